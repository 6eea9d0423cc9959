"""Convolution without columns, and what ConvolutionTransposed makes of it, against the definition; any threads, the same bits."""

import itertools

import numpy as np
import pytest
from ep_cpu.families.convolution import Direct, DirectAverage, DirectMax
from ep_cpu.families.matmul import WindowedMatmul
from ep_primitives import Convolution, ConvolutionTransposed, Matmul, Pool
from ep_primitives.families.convolution.family import ConvolutionFamily
from ep_primitives.families.convolution_transposed.family import ConvolutionTransposedFamily
from ep_primitives.families.pool.family import PoolFamily
from ep_primitives.judging.reference import array_dtype

import ep

RNG = np.random.default_rng(23)

BITS = """
import hashlib
import numpy as np
import ep
from ep_primitives import Convolution
rng = np.random.default_rng(3)
device = ep.device("cpu:0")
digest = hashlib.sha256()
for shape, weights, more in (
    ((2, 24, 40, 37), (24, 1, 3, 3), {"pads": 1, "groups": 24}),
    ((1, 16, 41, 30), (21, 16, 3, 2), {"strides": 2, "pads": (0, 1, 2, 0)}),
    ((3, 5, 400), (7, 5, 9), {"dilations": 3}),
    ((1, 64, 15, 14), (97, 64, 3, 3), {"pads": 1}),
    ((2, 300, 17, 18), (80, 300, 3, 3), {"strides": 2}),
    ((1, 32, 14, 15), (32, 32, 3, 3), {"pads": 1}),
    ((1, 32, 28, 29), (32, 32, 3, 3), {"pads": 1}),
):
    x, w = rng.standard_normal(shape, np.float32), rng.standard_normal(weights, np.float32)
    whole = Convolution.infer(x, w, **more)
    y = np.empty(whole.out.shape, np.float32)
    whole.on(device)(device.stream(), x=x, w=w, y=y)
    digest.update(y.tobytes())
print(digest.hexdigest())
"""

SHAPES = [
    ((2, 6, 9, 8), (6, 1, 3, 3), {"groups": 6, "pads": 1}),
    ((1, 4, 9, 8), (12, 1, 2, 5), {"groups": 4, "strides": (2, 3), "pads": (1, 0, 2, 3)}),
    ((2, 3, 30, 70), (7, 3, 3, 3), {"strides": 2, "pads": 1}),
    ((1, 5, 7, 6), (3, 5, 2, 2), {"dilations": (3, 2), "pads": 4}),
    ((3, 4, 50), (6, 2, 7), {"groups": 2, "strides": 3, "dilations": 2, "pads": (9, 0)}),
    ((1, 2, 5, 6, 7), (4, 2, 3, 1, 2), {"strides": (1, 2, 2), "pads": 1}),
    ((1, 3, 4, 4), (2, 3, 1, 1), {"strides": 3, "pads": 2}),
]


def check(family, whole, stream, dtype, **given):
    y = np.full(whole.out.shape, 7).astype(array_dtype(dtype))
    whole.on(stream.device)(stream, **given, y=y)
    wanted = family.reference(whole, given).value
    near = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-4, "float64": 1e-12}[dtype]
    np.testing.assert_allclose(y.astype(np.float64), wanted, rtol=near, atol=near)


def drawn(dtype, *shape):
    return RNG.standard_normal(shape).astype(array_dtype(dtype))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(("shape", "weights", "more"), SHAPES)
def test_sums_agree_with_the_definition(stream, dtype, shape, weights, more):
    x, w, bias = drawn(dtype, *shape), drawn(dtype, *weights), drawn(dtype, weights[0])
    whole = Convolution.infer(x, w, bias, **more)
    is_direct = weights[1] == 1 or dtype in {"float32", "float64"}
    primitive, is_matrix = whole.on(stream.device), set(weights[2:]) == {1}
    assert primitive.is_lowered == (is_matrix and not is_direct)
    assert primitive.is_lowered or type(primitive.implementation) is (Direct if is_direct else WindowedMatmul)
    check(ConvolutionFamily(), whole, stream, dtype, x=x, w=w, bias=bias)
    check(ConvolutionFamily(), Convolution.infer(x, w, **more), stream, dtype, x=x, w=w)


def test_operands_may_lie_in_any_way(stream):
    x, w, y = drawn("float32", 2, 9, 8, 6), drawn("float32", 3, 3, 6, 4), np.empty((2, 9, 8, 4), np.float32)
    seen = {"x": x.transpose(0, 3, 1, 2), "w": w.transpose(3, 2, 1, 0)[..., ::-1, ::-1]}
    made = y.transpose(0, 3, 1, 2)
    whole = Convolution.infer(**seen, pads=1, y=made)
    whole.on(stream.device)(stream, **seen, y=made)
    wanted = ConvolutionFamily().reference(whole, seen).value
    np.testing.assert_allclose(made, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_averages_agree_with_the_definition(stream, dtype):
    for shape, window, more in (
        ((3, 5, 9, 8), 3, {"strides": 2}),
        ((1, 4, 9, 8), (2, 5), {"pads": 1, "counts_pads": True}),
        ((2, 3, 30), 4, {"dilations": 3}),
    ):
        x = drawn(dtype, *shape)
        whole = Pool.infer("average", x, window, **more)
        assert type(whole.on(stream.device).implementation) is DirectAverage
        check(PoolFamily(), whole, stream, dtype, x=x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    ("shape", "window", "more"),
    [
        ((2, 5, 13, 17), 3, {"pads": 1}),
        ((2, 5, 37, 70), 3, {"strides": 2, "pads": (0, 0, 1, 1)}),
        ((1, 3, 9, 200), (2, 5), {}),
        ((1, 3, 40), 7, {"strides": 3, "pads": 3, "dilations": 2}),
        ((1, 2, 5, 6, 7), 2, {"pads": 1, "strides": (1, 2, 3)}),
        ((1, 1, 2, 2), 5, {"pads": 4}),
        ((1, 2, 9, 1100), 3, {"strides": 2, "pads": 1}),
        ((1, 2, 9, 31), 3, {"strides": 2, "pads": 2, "dilations": 2}),
        ((2, 1, 5, 6), 4, {"strides": 2, "pads": 3}),
    ],
)
def test_largest_elements_agree_with_the_definition(stream, dtype, shape, window, more):
    """NaN wins, +0 is above -0, and windows beside x alone have -inf; integers are reduced where windows lie."""
    x = RNG.integers(-3, 2, shape).astype(array_dtype(dtype))
    x[RNG.random(shape) < 0.3] = -0.0
    x[RNG.random(shape) < 0.02] = np.nan
    x[RNG.random(shape) < 0.1] = -np.inf
    whole = Pool.infer("max", x, window, **more)
    assert type(whole.on(stream.device).implementation) is DirectMax
    out = np.zeros(whole.out.shape, x.dtype)
    whole.on(stream.device)(stream, x=x, y=out)
    wanted = PoolFamily().reference(whole, {"x": x}).value.astype(np.float64)
    np.testing.assert_array_equal(out.astype(np.float64), wanted)
    assert (np.signbit(out.astype(np.float64)) == np.signbit(wanted))[~np.isnan(wanted)].all()
    whole = Pool.infer("max", ep.TensorSpec("int32", shape), window, **more)
    assert type(whole.on(stream.device).implementation) is not DirectMax


@pytest.mark.parametrize("op", ["max", "average"])
def test_windows_that_lie_apart_inside_x_are_reduced(stream, op):
    """One window for all of x, and such as begin three apart: vectors of places would be nearly empty."""
    for shape, window, strides, is_direct in (
        ((2, 5, 7, 7), 7, 1, False),
        ((2, 5, 13, 12), 3, 3, False),
        ((2, 5, 13, 12), (3, 1), (3, 1), True),
        ((2, 5, 8, 8), 7, 1, True),
    ):
        x = drawn("float32", *shape)
        whole = Pool.infer(op, x, window, strides=strides)
        implementation = whole.on(stream.device).implementation
        assert isinstance(implementation, (DirectMax, DirectAverage)) == (
            is_direct and (op, strides) != ("max", (3, 1))
        )
        check(PoolFamily(), whole, stream, "float32", x=x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("extent", range(5, 70))
@pytest.mark.parametrize("step", [1, 2])
def test_lines_are_dealt_whole(stream, dtype, extent, step):
    """Every second element of a line, whatever its length and how its elements lie."""
    x = RNG.standard_normal((1, 3, 7, extent * step)).astype(dtype)[..., ::step]
    for op, pads in (("max", 0), ("max", (0, 2, 1, 1)), ("average", (1, 1, 0, 2))):
        whole = Pool.infer(op, x, 3, strides=2, pads=pads)
        check(PoolFamily(), whole, stream, dtype, x=x)


@pytest.mark.parametrize("stride", [2, 3])
@pytest.mark.parametrize("window", [3, 4, 5])
@pytest.mark.parametrize("dilation", [1, 2, 3])
@pytest.mark.parametrize("groups", [1, 2])
def test_transposed_ones_agree_with_the_definition(stream, stride, window, dilation, groups):
    x, w, bias = drawn("float64", 2, 4, 5), drawn("float64", 4, 3, window), drawn("float64", 3 * groups)
    more = {"strides": stride, "dilations": dilation, "groups": groups}
    for pads, extra in itertools.product((0, (1, 2), (3, 0)), range(stride)):
        whole = ConvolutionTransposed.infer(x, w, bias, **more, pads=pads, extra=extra)
        check(ConvolutionTransposedFamily(), whole, stream, "float64", x=x, w=w, bias=bias)


def test_bits_do_not_depend_on_threads(fresh_python):
    assert len({fresh_python(BITS, EP_CPU_THREADS=count) for count in ("1", "2", "3")}) == 1


PRODUCTS = [
    ((2, 40, 9, 8), (130, 40, 3, 3), {"pads": 1}),
    ((1, 33, 31, 29), (170, 33, 3, 4), {"pads": (2, 1, 0, 3)}),
    ((1, 70, 40, 37), (90, 70, 3, 3), {"strides": 2, "pads": 1}),
    ((1, 60, 23, 50), (100, 60, 3, 3), {"strides": (1, 3), "dilations": (2, 1), "pads": 2}),
    ((3, 64, 100), (400, 32, 9), {"groups": 2, "pads": 4}),
    ((1, 24, 5, 6, 7), (90, 24, 3, 2, 3), {"pads": 1}),
    ((1, 300, 3, 3), (70, 300, 3, 3), {"pads": 2}),
]
"""Convolutions with many weights, whose windows cross panels, rows and images, and lie wholly outside of x."""


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "uint8"])
@pytest.mark.parametrize(("shape", "weights", "more"), PRODUCTS)
def test_products_of_windows_have_the_bits_of_products_of_columns(stream, dtype, shape, weights, more):
    """The columns are made by NumPy; sums are those of Matmul, whatever is packed of x."""
    draw = (
        (lambda *s: RNG.integers(0, 120, s).astype(dtype))
        if dtype in {"int8", "uint8"}
        else lambda *s: drawn(dtype, *s)
    )
    x, w = draw(*shape), draw(*weights)
    whole = Convolution.infer(x, w, **more)
    assert type(whole.on(stream.device).implementation) is WindowedMatmul
    y = np.empty(whole.out.shape, array_dtype(whole.out.dtype))
    whole.on(stream.device)(stream, x=x, w=w, y=y)
    np.testing.assert_array_equal(y, of_columns(whole, x, w, stream))


def of_columns(whole, x, w, stream):
    """Return a convolution as Matmul of weights and of columns that are in memory."""
    sliding, groups, count = whole.sliding, whole.groups, whole.out.shape[2:]
    sides = [
        (before, max(behind, 0))
        for before, behind in zip(sliding.before, sliding.behind(x.shape[2:], count), strict=True)
    ]
    padded = np.pad(x, [(0, 0), (0, 0), *sides])
    seen = np.lib.stride_tricks.sliding_window_view(padded, sliding.spans, range(2, x.ndim))
    places = tuple(slice(0, (n - 1) * stride + 1, stride) for n, stride in zip(count, sliding.strides, strict=True))
    seen = seen[(slice(None), slice(None), *places, *(slice(None, None, step) for step in sliding.dilations))]
    spatial = len(count)
    columns = np.moveaxis(seen, range(2, 2 + spatial), range(2 + spatial, 2 + 2 * spatial))
    b = np.ascontiguousarray(columns.reshape(x.shape[0], groups, -1, np.prod(count)))
    a = np.ascontiguousarray(w.reshape(1, groups, w.shape[0] // groups, -1))
    product = Matmul.infer(a, b)
    out = np.empty(product.out.shape, array_dtype(whole.out.dtype))
    product.on(stream.device)(stream, a=a, b=b, out=out, alpha=1, beta=0)
    return out.reshape(whole.out.shape)


@pytest.mark.parametrize("bias", [False, True])
def test_windows_of_a_part_of_a_tensor_end_where_it_does(stream, bias):
    """What lies around x is NaN, and what lies around y stays."""
    around = np.full((2, 70, 13, 20), np.nan, np.float32)
    x = around[:, 3:68, 2:11, 4:17]
    x[...] = drawn("float32", *x.shape)
    room = np.full((2, 90, 9 * 13 + 5), 7, np.float32)
    y = np.lib.stride_tricks.as_strided(room, (2, 90, 9, 13), (*room.strides[:2], 52, 4))
    w, given = drawn("float32", 90, 65, 3, 3), {}
    if bias:
        given["bias"] = drawn("float32", 90)
    whole = Convolution.infer(x, w, given.get("bias"), pads=1, y=y)
    assert type(whole.on(stream.device).implementation) is WindowedMatmul
    whole.on(stream.device)(stream, x=x, w=w, y=y, **given)
    wanted = ConvolutionFamily().reference(whole, {"x": x, "w": w, **given}).value
    np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-3)
    assert (room[:, :, 9 * 13 :] == 7).all()


@pytest.mark.parametrize(
    ("dtype", "weights", "reason"),
    [
        ("float32", (512, 256, 3, 3), "weights of a group are more"),
        ("float32", (200, 29, 3, 3), "products have more sums"),
        ("float32", (32, 32, 3, 3), "do not count"),
        ("bfloat16", (8, 256, 3, 3), "products of 16-bit numbers"),
    ],
)
def test_it_leaves_to_products_what_they_do_faster(stream, dtype, weights, reason):
    whole = Convolution.infer(ep.TensorSpec(dtype, (1, weights[1], 9, 9)), ep.TensorSpec(dtype, weights))
    with pytest.raises(ep.UnsupportedError, match=reason):
        Direct().accepts(whole, stream.device.info)
    assert type(whole.on(stream.device).implementation) is WindowedMatmul


@pytest.mark.parametrize(
    ("x", "weights", "more", "reason"),
    [
        (ep.TensorSpec("float32", (1, 256, 9, 9)), (8, 256, 1, 1), {"strides": 2}, "windows of one element"),
        (ep.TensorSpec("float32", (1, 8, 9, 9)), (300, 8, 9, 9), {}, "a matrix as they lie"),
        (ep.TensorSpec("float32", (1, 64, 9, 9), (5184, 1, 576, 64)), (130, 64, 3, 3), {}, "lie apart"),
    ],
)
def test_what_is_a_matrix_anyway_is_lowered(stream, x, weights, more, reason):
    whole = Convolution.infer(x, ep.TensorSpec("float32", weights), **more)
    with pytest.raises(ep.UnsupportedError, match=reason):
        WindowedMatmul().accepts(whole, stream.device.info)


def test_few_weights_stay_where_no_product_is_possible(stream):
    """Channels that are neighbours are no rows of windows; pieces are made of them as of any others."""
    x = ep.TensorSpec("float32", (1, 32, 9, 9), (2592, 1, 288, 32))
    whole = Convolution.infer(x, ep.TensorSpec("float32", (32, 32, 3, 3)))
    assert type(whole.on(stream.device).implementation) is Direct
