"""The fills of data: every op of every family has exact, designed and random ones where they make sense."""

from collections import defaultdict

import numpy as np
import pytest
from ep_primitives import families
from ep_primitives.cases.case import FILLS
from ep_primitives.judging.accuracy import REPRESENTABLE, Exact
from ep_primitives.judging.reference import array_dtype

import ep

FAMILIES = {
    name: family for name, family in ep.families().items() if family.descriptor.__module__.startswith("ep_primitives.")
}
LACKS = [lack for module in families.parts("lacks") for lack in getattr(module, "LACKS", ())]


def dense(family):
    """Yield the cells of the layout that all cases about values are of."""
    return (cell for cell in family.cells() if cell.layout == "dense")


def fills(family):
    """Return for each op and element types the fills of its cases, and whether their results are rounded."""
    found, rounds = defaultdict(set), {}
    for cell in dense(family):
        name = f"{cell.op}/{cell.dtypes}"
        rounds.setdefault(name, not isinstance(family.accuracy(family.sample(cell)), Exact))
        found[name].update(case.fill for case in family.cases(cell))
    return found, rounds


@pytest.mark.parametrize("name", FAMILIES)
def test_every_op_has_the_fills_that_mean_something_to_it(name):
    found, rounds = fills(FAMILIES[name])
    missing = {(op, fill) for op, seen in found.items() for fill in FILLS if fill not in seen}
    excused = {(op, "exact") for op in found if not rounds[op]}
    for lack in LACKS:
        if lack.family == name:
            excused |= {(op, lack.of) for op in found if any(part in op for part in lack.where)}
    assert missing <= excused


@pytest.mark.parametrize("name", FAMILIES)
def test_exact_fills_are_judged_bit_for_bit(name):
    family = FAMILIES[name]
    for cell in dense(family):
        for case in family.cases(cell):
            if case.fill == "exact":
                assert isinstance(case.accuracy or family.accuracy(case.descriptor), Exact), f"{cell}/{case.name}"


@pytest.mark.parametrize(
    "name", ["add_n", "matmul", "reduce", "softmax", "log_softmax", "softmax_backward", "log_softmax_backward"]
)
def test_exact_sums_are_numbers_of_the_type_that_differ(name):
    """For 16-bit types, and for means, the sum itself is such a number; the result from it is rounded once."""
    family = FAMILIES[name]
    tried = 0
    for cell in dense(family):
        if not cell.dtypes.startswith(("float32", "float64", "complex")) or cell.op == "mean":
            continue
        for case in family.cases(cell):
            if case.accuracy is not REPRESENTABLE or case.name.startswith(("zeros", "not-finite")):
                continue
            for seed in range(3):
                value = np.asarray(family.reference(case.descriptor, case.data(np.random.default_rng(seed))).value)
                stored = value.astype(array_dtype(case.descriptor.out.dtype)).astype(value.dtype)
                assert np.array_equal(stored, value), f"{cell}/{case.name}"
                assert np.unique(value).size > 1, f"{cell}/{case.name}"
            tried += 1
    assert tried > 1
