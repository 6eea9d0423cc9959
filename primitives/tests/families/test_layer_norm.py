"""LayerNorm: its descriptors, messages, and its definition against sums one by one."""

import math
import pickle

import numpy as np
import pytest
from ep_primitives import LayerNorm
from ep_primitives.families.layer_norm.family import LayerNormFamily

import ep
from ep import TensorSpec

FAMILY = LayerNormFamily()
X = TensorSpec("float32", (4, 3, 5))
ROW = TensorSpec("float32", (3, 5))


def value(x, axis=-1, epsilon=1e-5, **columns):
    """Return the reference's result for float64 arrays."""
    descriptor = LayerNorm.infer(x, **columns, axis=axis, epsilon=epsilon, mean=True, rstd=True)
    found = FAMILY.reference(descriptor, {"x": x, **columns})
    return {name: reference.value for name, reference in found.items()}


def test_rows_have_mean_0_and_variance_1():
    x = np.random.default_rng(5).normal(7, 3, (4, 3, 5))
    for axis in (0, 1, 2, -1, -3):
        along = tuple(range(axis % 3, 3))
        found = value(x, axis, epsilon=1e-12)
        np.testing.assert_allclose(found["y"].mean(along), 0, atol=1e-14)
        np.testing.assert_allclose(found["y"].var(along), 1, rtol=1e-10)
        np.testing.assert_allclose(found["mean"], x.mean(along, keepdims=True))
        np.testing.assert_allclose(found["rstd"], 1 / np.sqrt(x.var(along, keepdims=True) + 1e-12))


def test_definition_is_that_of_sums_one_by_one():
    x, scale, bias = [2.0, 4.0, 9.0], [1.0, -2.0, 0.5], [0.0, 3.0, -1.0]
    mean = math.fsum(x) / 3
    rstd = 1 / math.sqrt(math.fsum((each - mean) ** 2 for each in x) / 3 + 0.25)
    found = value(np.array([x]), epsilon=0.25, scale=np.array(scale), bias=np.array(bias))
    wanted = [(each - mean) * rstd * s + b for each, s, b in zip(x, scale, bias, strict=True)]
    np.testing.assert_allclose(found["y"], [wanted], rtol=1e-15)
    assert (found["mean"].item(), found["rstd"].item()) == (mean, pytest.approx(rstd, rel=1e-15))


@pytest.mark.parametrize(
    ("row", "mean", "rstd", "y"),
    [
        ([5.0], 5.0, 0.5, [0.0]),
        ([3.0, 3.0, 3.0], 3.0, 0.5, [0.0] * 3),
        ([1.0, math.nan], math.nan, math.nan, [math.nan] * 2),
        ([1.0, math.inf], math.inf, math.nan, [math.nan] * 2),
        ([-math.inf, 1.0, math.inf], math.nan, math.nan, [math.nan] * 3),
        ([], math.nan, math.nan, []),
    ],
)
def test_special_rows_are_as_documented(row, mean, rstd, y):
    found = value(np.array([row], np.float64), epsilon=4.0)
    np.testing.assert_array_equal(found["mean"], [[mean]])
    np.testing.assert_array_equal(found["rstd"], [[rstd]])
    np.testing.assert_array_equal(found["y"], [y])


def test_operands_keep_their_places():
    alone = LayerNorm.infer(X)
    assert alone.operands == ("x", "scale", "bias", "y", "mean", "rstd")
    assert alone.specs == (X, None, None, X, None, None)
    assert alone.cell == "layer_norm/-/float32/dense"
    whole = LayerNorm.infer(X, ROW, ROW, axis=1, mean=True, rstd=TensorSpec("float32", (4,)))
    assert whole.specs[-2:] == (TensorSpec("float32", (4, 1, 1)), TensorSpec("float32", (4,)))
    assert whole.attributes == (1, 1e-5)
    assert (whole.terms, whole.axis, whole.epsilon) == (15, 1, 1e-5)
    assert pickle.loads(pickle.dumps(whole)) == whole
    assert whole == LayerNorm(x=X, scale=ROW, bias=ROW, y=X, mean=whole.specs[4], rstd=whole.specs[5], axis=-2)


def test_statistics_have_the_compute_type():
    for dtype, compute in (
        ("float16", "float32"),
        ("bfloat16", "float32"),
        ("float32", "float32"),
        ("float64", "float64"),
    ):
        found = LayerNorm.infer(TensorSpec(dtype, (4, 3)), mean=True, rstd=True)
        assert [spec.dtype for spec in found.outputs.values()] == [dtype, compute, compute]
    assert found.cell == "layer_norm/-/float64/dense"
    narrow = LayerNorm.infer(TensorSpec("float16", (4, 3)), rstd=True)
    assert narrow.cell == "layer_norm/-/float16->float16,float32/dense"


def test_geometry_merges_rows_and_what_lies_across_them():
    whole = LayerNorm.infer(X, ROW, axis=1, mean=True)
    assert (whole.across.shape, whole.along.shape) == ((4,), (15,))
    assert whole.geometry.shape == (4, 15)
    assert whole.geometry.strides == ((15, 1), (0, 1), (0, 0), (15, 1), (1, 0), (0, 0))
    turned = LayerNorm.infer(TensorSpec("float32", (4, 3, 5), (15, 1, 3), 2), axis=1)
    assert (turned.along.shape, turned.along.strides[0]) == ((3, 5), (1, 3))
    assert turned.geometry.offsets == (2, 0, 0, 0, 0, 0)
    assert turned.layout == "offset"
    assert LayerNorm.infer(TensorSpec("float32", ())).layout == "rank0"
    assert LayerNorm.infer(TensorSpec("float32", (3, 0)), mean=True).is_empty is False
    assert LayerNorm.infer(TensorSpec("float32", (3, 0))).is_empty


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"axis": 3}, ValueError, "layer_norm: axis is 3, needs an integer from -3 to 2"),
        ({"axis": 1}, ValueError, r"layer_norm: scale has shape \(5,\), needs \(3, 5\) for this x and axis"),
        ({"scale": TensorSpec("float64", (5,))}, ValueError, "layer_norm: scale has dtype float64, needs float32; cast it"),
        ({"mean": TensorSpec("float32", (4, 3, 5))}, ValueError, r"layer_norm: mean has shape .* needs \(4, 3, 1\) or \(4, 3\)"),
        ({"rstd": TensorSpec("float64", (4, 3))}, ValueError, "layer_norm: rstd has dtype float64, needs float32; describe rstd so"),
        ({"rstd": TensorSpec("float32", (4, 3), (0, 1))}, ValueError, "layer_norm: rstd .* overlaps itself"),
        ({"y": TensorSpec("float32", (4, 3, 1))}, ValueError, r"layer_norm: y has shape \(4, 3, 1\), needs \(4, 3, 5\)"),
        ({"x": TensorSpec("int32", (4, 3, 5))}, ValueError, "layer_norm: x has dtype int32, needs one of float16"),
        ({"epsilon": 0.0}, ValueError, "layer_norm: epsilon is 0.0, needs a finite number above 0 within the compute type"),
        ({"epsilon": 1e-50}, ValueError, "layer_norm: epsilon is 1e-50, needs a finite number above 0"),
        ({"epsilon": "3"}, TypeError, "layer_norm: epsilon is '3', needs a real number"),
        ({"mean": False}, TypeError, "layer_norm: mean is False, of type bool, needs a TensorSpec"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(given, error, words):
    with pytest.raises(error, match=f"^{words}"):
        LayerNorm.infer(**{"x": X, "scale": TensorSpec("float32", (5,)), **given})


def test_parts_are_rows_with_their_statistics():
    whole = LayerNorm.infer(X, mean=True, rstd=TensorSpec("float32", (4, 3)))
    first, last, rest = FAMILY.parts(whole)
    assert first.x == TensorSpec("float32", (1, 1, 5), X.strides)
    assert (last.x.offset, last.specs[4].offset, last.specs[5].offset) == (55, 11, 11)
    assert rest.specs[5] == TensorSpec("float32", (3, 3), (3, 1), 3)


def test_y_alone_is_a_constant_where_rows_are_one_element():
    one = LayerNorm.infer(TensorSpec("float32", (12, 1)), mean=True, rstd=True)
    assert FAMILY.is_constant(one) == {"y": True, "mean": False, "rstd": True}
    assert not any(FAMILY.is_constant(LayerNorm.infer(X, mean=True, rstd=True)).values())
    assert {cell.layout for cell in FAMILY.cells()} <= set(ep.layout.cells.LAYOUTS)
