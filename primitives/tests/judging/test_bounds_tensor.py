"""The bounds tensor: S of a sum is the sum without cancellation, the op on the sizes of its operands."""

import numpy as np
import pytest

import ep

FAMILIES = ep.families()
LOOSE = {"float32": 2.0**-40, "float64": 2.0**-10}
"""The allowed difference of a reference in float64; for float64 S includes the long double's error, too."""
SIGNED = {"add_n": ("-",), "matmul": ("-",), "reduce": ("sum", "mean", "prod", "sum_of_squares", "norm_1", "norm_2")}


def summing(name):
    """Yield the cases of sums of float32 and float64 that nothing follows but a last rounding."""
    family = FAMILIES[name]
    for cell in family.cells():
        if cell.op not in SIGNED[name] or cell.layout not in {"dense", "strided", "broadcast"}:
            continue
        if cell.dtypes.partition("->")[0] not in LOOSE:
            continue
        for case in family.cases(cell):
            if case.profile == "quick" and case.accuracy is None and case.descriptor.out.size:
                yield cell, case


@pytest.mark.parametrize("name", SIGNED)
def test_scale_of_a_sum_is_the_op_on_sizes(name):
    family, tried = FAMILIES[name], 0
    for cell, case in summing(name):
        if getattr(case.descriptor, "activation", "none") != "none":
            continue
        inputs = dict(case.data(np.random.default_rng(1)))
        reference = family.reference(case.descriptor, inputs)
        if reference.scale is None:
            continue
        with np.errstate(all="ignore"):
            sizes = {key: np.abs(value).astype(np.asarray(value).dtype) for key, value in inputs.items()}
            sizes = {
                key: value if isinstance(inputs[key], np.ndarray) else value.item() for key, value in sizes.items()
            }
            bound = np.abs(family.reference(case.descriptor, sizes).value)
        finite = np.isfinite(reference.scale) & np.isfinite(bound)
        loose = LOOSE[cell.dtypes.rpartition("->")[2]]
        assert np.allclose(reference.scale[finite], bound[finite], rtol=loose, atol=1e-300), f"{cell}/{case.name}"
        with np.errstate(all="ignore"):
            size = np.abs(np.asarray(reference.value))
            assert not (size > reference.scale * (1 + loose)).any(), f"{cell}/{case.name}: S is no bound"
        tried += 1
    assert tried > 10
