"""RmsLayerNorm: its descriptors, messages, stages, and its definition against sums one by one."""

import math
import pickle

import numpy as np
import pytest
from ep_primitives import RmsLayerNorm
from ep_primitives.families.rms_layer_norm.family import RmsLayerNormFamily

from ep import TensorSpec

FAMILY = RmsLayerNormFamily()
X = TensorSpec("float32", (4, 3, 5))
ROW = TensorSpec("float32", (3, 5))


def value(x, axis=-1, epsilon=1e-5, **columns):
    descriptor = RmsLayerNorm.infer(x, **columns, axis=axis, epsilon=epsilon)
    return FAMILY.reference(descriptor, {"x": x, **columns}).value


def test_definition_is_that_of_sums_one_by_one():
    x, scale = [2.0, 4.0, 9.0], [1.0, -2.0, 0.5]
    root = math.sqrt(math.fsum(each * each for each in x) / 3 + 0.25)
    wanted = [each / root * s for each, s in zip(x, scale, strict=True)]
    found = value(np.array([x]), epsilon=0.25, scale=np.array(scale))
    np.testing.assert_allclose(found, [wanted], rtol=1e-15)


def test_rows_have_a_mean_square_of_1():
    x = np.random.default_rng(5).normal(7, 3, (4, 3, 5))
    for axis in (0, 1, 2, -1):
        found = value(x, axis, epsilon=1e-12)
        np.testing.assert_allclose(np.square(found).mean(tuple(range(axis % 3, 3))), 1, rtol=1e-12)


@pytest.mark.parametrize(
    ("row", "y"),
    [
        ([0.0, 0.0], [0.0, 0.0]),
        ([1.0, math.nan], [math.nan] * 2),
        ([1.0, math.inf, -2.0], [0.0, math.nan, 0.0]),
    ],
)
def test_special_rows_are_as_documented(row, y):
    np.testing.assert_array_equal(value(np.array([row])), [y])


def test_descriptors_and_stages():
    made = RmsLayerNorm.infer(X, ROW, axis=1)
    assert (made.specs, made.attributes, made.terms) == ((X, ROW, X), (1, 1e-5), 15)
    assert made.cell == "rms_layer_norm/-/float32/dense"
    assert pickle.loads(pickle.dumps(made)) == made
    assert eval(repr(made), {"RmsLayerNorm": RmsLayerNorm, "TensorSpec": TensorSpec}) == made
    assert [stage.descriptor.op for stage in made.lower()] == ["sum_of_squares", "div", "add", "rsqrt", "mul", "mul"]
    narrow = RmsLayerNorm.infer(TensorSpec("bfloat16", (4, 3)), TensorSpec("bfloat16", (3,))).lower()
    assert [stage.descriptor.out.dtype for stage in narrow] == ["float32"] * 8 + ["bfloat16"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"axis": 3}, "rms_layer_norm: axis is 3, needs an integer from -3 to 2"),
        ({"scale": ROW}, r"rms_layer_norm: scale has shape \(3, 5\), needs \(5,\) for this x and axis"),
        ({"scale": TensorSpec("float64", (5,))}, "rms_layer_norm: scale has dtype float64, needs float32; cast it"),
        ({"y": ROW}, r"rms_layer_norm: y has shape \(3, 5\), needs x's shape \(4, 3, 5\)"),
        ({"x": TensorSpec("int32", (4, 3, 5))}, "rms_layer_norm: x has dtype int32, needs one of float16"),
        ({"epsilon": -1.0}, "rms_layer_norm: epsilon is -1.0, needs a finite number above 0"),
    ],
)
def test_what_does_not_fit_is_refused(given, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        RmsLayerNorm.infer(**{"x": X, **given})


def test_parts_are_rows():
    first, last, rest = FAMILY.parts(RmsLayerNorm.infer(X, ROW, axis=1))
    assert (first.x.shape, last.x.offset, rest.x.shape, rest.axis) == ((1, 3, 5), 45, (3, 3, 5), 1)
