"""Convolution: its descriptors, messages, stages, and its definition against sums one by one."""

import itertools
import pickle

import numpy as np
import pytest
from ep_primitives import Convolution, Copy, Matmul, Pad
from ep_primitives.families.convolution import stages as convolution_stages
from ep_primitives.families.convolution.family import ConvolutionFamily

import ep
from ep import TensorSpec

FAMILY = ConvolutionFamily()
X = TensorSpec("float32", (2, 6, 9, 8))
W = TensorSpec("float32", (4, 3, 3, 2))


def value(x, w, **more):
    """Return the reference's result for float64 arrays."""
    return FAMILY.reference(Convolution.infer(x, w, **more), {"x": x, "w": w}).value


def summed(x, w, strides, dilations, before, groups):
    """Return the definition, element by element, where it is within shape."""
    descriptor = Convolution.infer(
        x, w, strides=strides, dilations=dilations, pads=(*before, *(3,) * len(before)), groups=groups
    )
    y = np.zeros(descriptor.out.shape)
    each, made = w.shape[1], w.shape[0] // groups
    for n, m, *o in np.ndindex(*y.shape):
        for c, *k in itertools.product(*map(range, w.shape[1:])):
            place = [
                i * stride + j * step - first
                for i, j, stride, step, first in zip(o, k, strides, dilations, before, strict=True)
            ]
            if all(0 <= i < extent for i, extent in zip(place, x.shape[2:], strict=True)):
                y[(n, m, *o)] += x[(n, m // made * each + c, *place)] * w[(m, c, *k)]
    return descriptor, y


@pytest.mark.parametrize(("strides", "dilations", "before"), [((1, 1), (1, 1), (0, 0)), ((2, 3), (2, 1), (1, 4))])
@pytest.mark.parametrize("groups", [1, 2])
def test_definition_is_that_of_sums_one_by_one(strides, dilations, before, groups):
    rng = np.random.default_rng(3)
    x, w = rng.standard_normal((2, 4, 6, 7)), rng.standard_normal((6, 4 // groups, 3, 2))
    descriptor, wanted = summed(x, w, strides, dilations, before, groups)
    np.testing.assert_allclose(FAMILY.reference(descriptor, {"x": x, "w": w}).value, wanted, rtol=1e-12, atol=1e-12)


def test_windows_are_correlated_and_not_flipped():
    x = np.array([[[1.0, 2.0, 3.0, 4.0]]])
    w = np.array([[[1.0, 0.0, -10.0]]])
    np.testing.assert_array_equal(value(x, w), [[[-29.0, -38.0]]])
    np.testing.assert_array_equal(value(x, w, pads=(1, 0)), [[[-20.0, -29.0, -38.0]]])


def test_bytes_wrap_in_32_bits():
    x = np.full((1, 70000, 2), 255, np.uint8)
    w = np.full((1, 70000, 1), 255, np.uint8)
    assert int(value(x, w)[0, 0, 0]) == 255 * 255 * 70000 - 2**32


def test_one_number_stands_for_all_dimensions():
    one = Convolution.infer(X, W, strides=2, dilations=1, pads=1, groups=2)
    assert one == Convolution.infer(X, W, strides=(2, 2), dilations=(1, 1), pads=(1, 1), groups=2)
    assert one == Convolution.infer(X, W, strides=[2, 2], pads=(1, 1, 1, 1), groups=2)
    assert (one.strides, one.dilations, one.pads, one.groups) == ((2, 2), (1, 1), (1, 1, 1, 1), 2)
    assert one.out.shape == (2, 4, 5, 5)
    assert one.terms == 18
    assert one.flops == 2 * one.out.size * 18
    assert pickle.loads(pickle.dumps(one)) == one
    assert repr(one).endswith("strides=(2, 2), dilations=(1, 1), pads=(1, 1, 1, 1), groups=2)")


def test_points_of_dense_images_are_one_product():
    (stage,) = Convolution.infer(X, TensorSpec("float32", (5, 6, 1, 1))).lower()
    assert isinstance(stage.descriptor, Matmul)
    assert stage.operands == {"a": "w", "b": "x", "out": "y"}


def test_windows_in_a_line_are_a_product_of_x_where_it_lies():
    line = Convolution.infer(TensorSpec("float32", (3, 1, 40)), TensorSpec("float32", (5, 1, 4)), strides=2)
    (stage,) = line.lower()
    assert stage.descriptor.b.strides[-2:] == (1, 2)


def test_columns_are_copied_once_and_zeros_only_where_windows_reach():
    stages = Convolution.infer(X, W, groups=2).lower()
    assert [type(stage.descriptor) for stage in stages] == [Copy, Matmul]
    stages = Convolution.infer(X, W, groups=2, strides=4, pads=(1, 0, 0, 3)).lower()
    assert [type(stage.descriptor) for stage in stages] == [Pad, Copy, Matmul]
    assert stages[0].descriptor.before == (0, 0, 1, 0)
    assert stages[0].descriptor.after == (0, 0, -3, 2)
    stages = Convolution.infer(X, W, groups=2, strides=8, pads=(0, 0, 3, 3)).lower()
    assert [type(stage.descriptor) for stage in stages] == [Pad, Copy, Matmul]
    stages = Convolution.infer(X, W, groups=2, strides=8, pads=(0, 0, 1, 1)).lower()
    assert [type(stage.descriptor) for stage in stages] == [Copy, Matmul]


def test_a_product_that_y_has_no_strides_for_is_copied():
    y = TensorSpec("float32", (2, 4, 7, 7), (1, 2, 80, 9))
    stages = Convolution.infer(X, W, groups=2, y=y).lower()
    assert [type(stage.descriptor) for stage in stages] == [Copy, Matmul, Copy]
    assert [stage.operands["out"] for stage in stages] == ["columns", "product", "y"]


@pytest.mark.parametrize("most", [1, 3000, 8000])
def test_columns_in_parts_are_right(monkeypatch, most):
    """Some images at a time, some windows of one, and one row of windows."""
    monkeypatch.setattr(convolution_stages, "_MOST_BYTES", most)
    rng = np.random.default_rng(4)
    x, w = (rng.integers(-9, 9, shape).astype(np.float32) for shape in ((5, 2, 9, 10), (1, 1, 2, 2)))
    w = np.concatenate([w, 2 * w])
    descriptor = Convolution.infer(x, w, groups=2, pads=1)
    copies = [stage.descriptor for stage in descriptor.lower() if isinstance(stage.descriptor, Copy)]
    assert len(copies) > 1
    assert len(copies) == 50 if most == 1 else len(copies) < 50
    assert sum(copy.out.size for copy in copies) == 5 * 8 * 110
    device = ep.device("cpu:0")
    made, stream = device.empty(descriptor.out), device.stream()
    descriptor.on(device)(stream, x=device.tensor(x), w=device.tensor(w), y=made)
    stream.synchronize()
    np.testing.assert_array_equal(made.numpy(), FAMILY.reference(descriptor, {"x": x, "w": w}).value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"w": TensorSpec("float32", (4, 3, 3))}, r"w has shape \(4, 3, 3\), needs the 4 dimensions of x"),
        ({"w": TensorSpec("float32", (4, 3, 0, 2))}, r"w has extents \(0, 2\) of a window, needs at least 1"),
        ({"w": TensorSpec("float32", (5, 3, 3, 2))}, r"groups is 2 with .*; needs one that divides M = 5"),
        ({"groups": 3}, r"groups is 3 with .* times it is x.shape\[1\] = 6"),
        ({"groups": 0}, r"groups is 0"),
        ({"strides": 0}, r"strides has 0, needs at least 1"),
        ({"dilations": (1, -1)}, r"dilations has -1, needs at least 1"),
        ({"pads": -1}, r"pads has -1, needs at least 0"),
        ({"strides": (1, 1, 1)}, r"strides is \(1, 1, 1\), needs an integer, or 2 of them"),
        ({"pads": (1, 1, 1)}, r"pads is \(1, 1, 1\), needs an integer, or 2 or 4 of them"),
        ({"dilations": 5}, r"a window spans 11 elements in spatial dimension 0, and x with its pads has 9"),
        ({"bias": TensorSpec("float32", (3,))}, r"bias has shape \(3,\), needs \(4,\)"),
        ({"bias": TensorSpec("float64", (4,))}, r"bias has dtype float64, needs float32"),
        ({"y": TensorSpec("float32", (2, 4, 7, 6))}, r"y has shape \(2, 4, 7, 6\), needs \(2, 4, 7, 7\)"),
        ({"x": TensorSpec("complex64", X.shape)}, r"x has dtype complex64, needs one of float16"),
        ({"x": TensorSpec("float32", (2, 6))}, r"x has shape \(2, 6\), needs 1 to 6 dimensions after the first two"),
        (
            {"x": TensorSpec("float32", (2, 6, *(1,) * 7))},
            r"x has shape .*, needs 1 to 6 dimensions after the first two",
        ),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    with pytest.raises(ValueError, match=f"^convolution: {message}"):
        Convolution.infer(**({"x": X, "w": W, "groups": 2} | change))


def test_origin_is_the_window_within_x():
    descriptor = Convolution.infer(X, W, groups=2, pads=2, dilations=(3, 2))
    origin = FAMILY.origin(descriptor, {}, "y", (1, 3, 0, 7))
    assert origin == {"x": (1, slice(3, 6), slice(1, 7, 3), slice(5, 8, 2)), "w": (3, *(slice(None),) * 3)}
