"""Convolution without columns, and what ConvolutionTransposed makes of it, against the definition; any threads, the same bits."""

import itertools

import numpy as np
import pytest
from ep_cpu.families.convolution import Direct, DirectAverage
from ep_primitives import Convolution, ConvolutionTransposed, Pool
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
    assert (type(whole.on(stream.device).implementation) is Direct) == is_direct
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


@pytest.mark.parametrize(
    ("dtype", "weights", "reason"),
    [
        ("float32", (512, 256, 3, 3), "weights of a group are more"),
        ("float32", (8, 256, 1, 1), "windows of one element are products"),
        ("bfloat16", (8, 256, 3, 3), "products of 16-bit numbers"),
    ],
)
def test_it_leaves_products_to_matmul(stream, dtype, weights, reason):
    whole = Convolution.infer(ep.TensorSpec(dtype, (1, 256, 9, 9)), ep.TensorSpec(dtype, weights))
    with pytest.raises(ep.UnsupportedError, match=reason):
        Direct().accepts(whole, stream.device.info)
    assert whole.on(stream.device).stages
