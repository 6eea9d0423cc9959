"""ConvolutionTransposed: its descriptors, messages, stages, and its definition against Convolution's."""

import itertools
import pickle

import numpy as np
import pytest
from ep_primitives import Convolution, ConvolutionTransposed, Copy, Fill
from ep_primitives.families.convolution.family import ConvolutionFamily
from ep_primitives.families.convolution_transposed.family import ConvolutionTransposedFamily

from ep import TensorSpec

FAMILY = ConvolutionTransposedFamily()
X = TensorSpec("float32", (2, 6, 5, 4))
W = TensorSpec("float32", (6, 2, 3, 2))


def value(x, w, **more):
    """Return the reference's result for float64 arrays."""
    return FAMILY.reference(ConvolutionTransposed.infer(x, w, **more), {"x": x, "w": w}).value


def test_elements_give_to_their_windows_and_nothing_is_flipped():
    x, w = np.array([[[1.0, 10.0]]]), np.array([[[1.0, 2.0, 3.0]]])
    np.testing.assert_array_equal(value(x, w), [[[1, 12, 23, 30]]])
    np.testing.assert_array_equal(value(x, w, strides=3), [[[1, 2, 3, 10, 20, 30]]])
    np.testing.assert_array_equal(value(x, w, strides=3, pads=(1, 2), extra=2), [[[2, 3, 10, 20, 30]]])
    np.testing.assert_array_equal(value(x, w, dilations=2, extra=1), [[[1, 10, 2, 20, 3, 30, 0]]])


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("pads", [0, (2, 1, 1, 0)])
def test_it_is_the_gradient_of_the_convolution(groups, pads):
    """With z of the shape of y, the sum of y z equals the sum of x times the convolution of z."""
    rng = np.random.default_rng(5)
    x, w = rng.standard_normal((2, 6, 5, 4)), rng.standard_normal((6, 4 // groups, 3, 2))
    more = {"strides": (2, 3), "dilations": (1, 2), "pads": pads, "groups": groups}
    for extra in itertools.product(range(2), range(3)):
        y = value(x, w, **more, extra=extra)
        z = rng.standard_normal(y.shape)
        convolution = Convolution.infer(z, w, **more)
        back = ConvolutionFamily().reference(convolution, {"x": z, "w": w}).value
        np.testing.assert_allclose((y * z).sum(), (x * back).sum(), rtol=1e-12)


def test_one_number_stands_for_all_dimensions():
    one = ConvolutionTransposed.infer(X, W, strides=2, pads=1, groups=3, extra=1)
    assert one == ConvolutionTransposed.infer(X, W, strides=(2, 2), pads=(1, 1, 1, 1), groups=3, y=one.out)
    assert (one.strides, one.dilations, one.pads, one.groups) == ((2, 2), (1, 1), (1, 1, 1, 1), 3)
    assert one.out.shape == (2, 6, 10, 7)
    assert one.terms == 2 * 2 * 1
    assert ConvolutionTransposed.infer(X, W, strides=2, dilations=2, groups=3).terms == 2 * 6
    assert one.flops == 2 * one.x.size * 12
    assert pickle.loads(pickle.dumps(one)) == one
    assert repr(one).endswith("pads=(1, 1, 1, 1), groups=3)")


def test_places_that_meet_the_same_weights_are_a_convolution():
    stages = ConvolutionTransposed.infer(X, W, pads=1, groups=3).lower()
    assert [type(stage.descriptor) for stage in stages] == [Copy, Convolution]
    assert stages[1].descriptor.pads == (1, 0, 1, 0)
    assert stages[1].operands["x"] == "x"
    stages = ConvolutionTransposed.infer(X, W, pads=1, groups=3, strides=(1, 2)).lower()
    assert [type(stage.descriptor) for stage in stages] == [Copy, Convolution, Convolution]
    assert [stage.descriptor.w.shape for stage in stages[1:]] == [(6, 2, 3, 1)] * 2
    assert [(stage.descriptor.out.offset, stage.descriptor.out.strides[3]) for stage in stages[1:]] == [(0, 2), (1, 2)]
    stages = ConvolutionTransposed.infer(X, TensorSpec("float32", (6, 2, 4, 4)), strides=2, extra=1).lower()
    assert [type(stage.descriptor) for stage in stages] == [Convolution] * 4
    assert stages[0].descriptor.w == TensorSpec("float32", (2, 6, 2, 2), (16, 32, -8, -2), 10)
    assert stages[3].descriptor.w == TensorSpec("float32", (2, 6, 2, 2), (16, 32, -8, -2), 15)
    stages = ConvolutionTransposed.infer(X, W, pads=(4, 0, 0, 1), groups=3).lower()
    assert stages[-1].descriptor.x == TensorSpec("float32", (2, 6, 3, 4), X.strides, 2 * 4)


def test_x_is_spread_where_places_meet_no_weights():
    stages = ConvolutionTransposed.infer(X, W, pads=1, groups=3, strides=(1, 3)).lower()
    assert [type(stage.descriptor) for stage in stages] == [Copy, Fill, Copy, Convolution]
    assert stages[1].descriptor.out.shape == (2, 6, 7, 10)
    assert stages[2].descriptor.out == TensorSpec("float32", X.shape, (420, 70, 10, 3), 10)
    assert stages[3].descriptor.pads == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"w": TensorSpec("float32", (6, 2, 3))}, r"w has shape \(6, 2, 3\), needs the 4 dimensions of x"),
        ({"w": TensorSpec("float32", (5, 2, 3, 2))}, r"groups is 3 with .*, and w.shape\[0\] must be that"),
        ({"groups": 4}, r"groups is 4 with .*; needs one that divides x.shape\[1\] = 6"),
        (
            {"x": TensorSpec("float32", (2, 6, 0, 4))},
            r"x has shape \(2, 6, 0, 4\), needs spatial extents of at least 1",
        ),
        ({"pads": 4}, r"pads \(4, 4, 4, 4\) cut off all of \(7, 5\)"),
        ({"extra": 1}, r"y has shape \(2, 6, 8, 6\), needs \(2, 6, 7, 5\); describe y so"),
        ({"extra": 2, "strides": 2}, r"y has shape .*, needs \(2, 6, 11, 8\), or with up to \(1, 1\) more"),
        ({"extra": -1}, r"extra has -1, needs at least 0"),
        ({"extra": 1, "strides": 2, "y": TensorSpec("float32", (2, 6, 11, 8))}, r"extra is \(1, 1\) and makes"),
        ({"bias": TensorSpec("float32", (2,))}, r"bias has shape \(2,\), needs \(6,\)"),
        ({"x": TensorSpec("int8", X.shape)}, r"x has dtype int8, needs one of float16"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    with pytest.raises(ValueError, match=f"^convolution_transposed: {message}"):
        ConvolutionTransposed.infer(**({"x": X, "w": W, "groups": 3} | change))


def test_origin_is_what_gives_to_an_element():
    descriptor = ConvolutionTransposed.infer(X, W, groups=3, strides=2, pads=1)
    origin = FAMILY.origin(descriptor, {}, "y", (1, 3, 0, 4))
    whole = slice(None)
    assert origin == {"x": (1, slice(2, 4), slice(0, 1), slice(2, 3)), "w": (slice(2, 4), 1, whole, whole)}
