"""The pairs that are drawn for an op show the faults that they are there for."""

import numpy as np
import pytest
from ep_primitives import BINARY_OPS, ep_families
from ep_primitives.elementwise.hard_pairs import HARD_PAIRS, LOGICAL, SELECTIONS, multiples, tolerances
from ep_primitives.elementwise.op import FLOATS, INTEGERS, REALS
from ep_primitives.judging.reference import array_dtype, widened

import ep

FAMILY = next(family for family in ep_families() if family.name == "broadcast_binary")


def cases(op, dtype, layout="dense"):
    for cell in FAMILY.cells():
        if (cell.op, cell.layout) == (op, layout) and cell.dtypes.startswith(dtype):
            yield from FAMILY.cases(cell)


@pytest.mark.parametrize("op", HARD_PAIRS)
def test_hard_pairs_are_cases_of_every_type(op):
    for dtype in BINARY_OPS[op].dtypes:
        assert any(case.name.startswith("hard-pairs") for case in cases(op, dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("op", "whole"), [("floor_div", np.floor), ("trunc_div", np.trunc)])
def test_a_rounded_quotient_is_seen(op, whole, dtype):
    a, b = multiples(dtype)
    with np.errstate(all="ignore"):
        rounded = whole((widened(dtype, a) / widened(dtype, b)).astype(a.dtype).astype(np.float64)).astype(a.dtype)
        exact = BINARY_OPS[op].reference(widened(dtype, a), widened(dtype, b)).astype(a.dtype)
    assert (rounded != exact).sum() > 20


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_multiples_have_every_remainder_sign_and_zero_divisors(dtype):
    a, b = multiples(dtype)
    left = BINARY_OPS["floor_mod"].reference(a[b != 0], b[b != 0])
    assert (left == 0).any()
    assert (left > 0).any()
    assert (left < 0).any() == (ep.dtype(dtype).range[0] < 0)
    assert (b == 0).any()


TOLERANCES = ((1e-8, 1e-5), (0.5, 0.25), (2.0, 0.0), (0.0, 0.01))


@pytest.mark.parametrize("dtype", REALS)
def test_tolerances_are_met_and_missed(dtype):
    for atol, rtol in TOLERANCES:
        a, b = (widened(dtype, values) for values in tolerances(dtype, atol, rtol))
        close = BINARY_OPS["is_close"].reference(a, b, np.float64(atol), np.float64(rtol))
        assert 0.2 < close.mean() < 0.8


def test_closeness_in_float32_is_seen():
    seen = 0
    for atol, rtol in TOLERANCES:
        a, b = tolerances("float32", atol, rtol)
        close = BINARY_OPS["is_close"].reference(a, b, np.float64(atol), np.float64(rtol))
        seen += (close != (np.abs(a - b) <= np.float32(atol) + np.float32(rtol) * np.abs(b))).sum()
    assert seen > 20


@pytest.mark.parametrize("op", sorted(LOGICAL))
@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex64"])
def test_logical_operands_are_zero_as_often_as_not(op, dtype):
    (case,) = [case for case in cases(op, dtype) if case.name == "size-65537"]
    inputs = [np.asarray(array) != 0 for array in case.data(np.random.default_rng(0)).values()]
    combinations = [(inputs[0] == left) & (inputs[1] == right) for left in (True, False) for right in (True, False)]
    assert all(abs(found.mean() - 0.25) < 0.01 for found in combinations)


@pytest.mark.parametrize("op", sorted(SELECTIONS))
def test_selections_meet_both_sides_of_their_corners(op):
    row = BINARY_OPS[op]
    held = row.held("float32", tuple(attribute.samples[0] for attribute in row.attributes))
    found = [case for case in cases(op, "float32") if case.name in {"size-17", "size-257"}]
    assert len(found) == 2
    for case in found:
        x = case.data(np.random.default_rng(0))["b"]
        result = row.reference(np.ones(x.shape), x.astype(np.float64), *held)
        is_zero = (result[0] if isinstance(result, tuple) else result) == 0
        assert 0.2 < is_zero.mean() < 0.8


def test_types_of_one_byte_are_tried_with_every_pair():
    for dtype in ("int8", "uint8"):
        case = next(case for case in cases("floor_mod", dtype) if case.name == "exhaustive-8bit")
        data = case.data(np.random.default_rng(0))
        assert len(set(zip(data["a"].tolist(), data["b"].tolist(), strict=True))) == 2**16
        assert data["a"].dtype == array_dtype(dtype)
