"""Products and convolutions read their operands and nothing beside them: pages before and after these refuse to be read."""

import pytest

FENCED = """
import ctypes, mmap
import ml_dtypes
import numpy as np
import ep
from ep_primitives import Convolution, Matmul

PAGE = mmap.PAGESIZE
DEVICE = ep.device("cpu:0")
STREAM = DEVICE.stream()
LIBC = ctypes.CDLL(None, use_errno=True)
RNG = np.random.default_rng(1)
KEPT = []


def fenced(array, at_end):
    pages = -(-array.nbytes // PAGE)
    block = mmap.mmap(-1, (pages + 2) * PAGE)
    KEPT.append(block)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(block))
    for fence in (begin, begin + (pages + 1) * PAGE):
        assert LIBC.mprotect(ctypes.c_void_p(fence), PAGE, 0) == 0
    offset = PAGE + (pages * PAGE - array.nbytes if at_end else 0)
    placed = np.frombuffer(block, array.dtype, array.size, offset).reshape(array.shape)
    placed[...] = array
    return placed


def check(descriptor, given, wanted):
    out = np.empty(descriptor.out.shape, descriptor.out.dtype)
    name = descriptor.tensors[-1][0].name
    numbers = {"alpha": 1, "beta": 0} if name == "out" else {}
    for at_end in (False, True):
        placed = {key: fenced(value, at_end) for key, value in given.items()}
        views = {key: value.T if key == "b" and TURNED else value for key, value in placed.items()}
        target = fenced(out, at_end)
        descriptor.on(DEVICE)(STREAM, **views, **numbers, **{name: target})
        coarse = 1e-4 if target.itemsize > 2 else 1e-2
        np.testing.assert_allclose(target.astype(np.float64), wanted, rtol=coarse, atol=coarse)


"""

PRODUCTS = """
for dtype in ("float32", "float64"):
    for TURNED in (False, True):
        for m in (1, 2, 7, 12, 14):
            for n in (1, 2, 3, 4, 5, 9, 17, 37):
                for k in (1, 3, 4, 6, 18, 259):
                    a, b = RNG.standard_normal((m, k)).astype(dtype), RNG.standard_normal((k, n)).astype(dtype)
                    b = np.ascontiguousarray(b.T) if TURNED else b
                    seen = b.T if TURNED else b
                    check(Matmul.infer(a, seen), {"a": a, "b": b}, a @ seen)
"""

NARROW = """
for dtype in ("float16", ml_dtypes.bfloat16, "int8"):
    for TURNED in (False, True):
        for m in (1, 2, 5, 13, 20):
            for n in (1, 5, 16, 37, 64):
                for k in (1, 7, 32, 64, 45, 520):
                    a, b = (np.rint(RNG.standard_normal(shape) * 4).astype(dtype) for shape in ((m, k), (k, n)))
                    b = np.ascontiguousarray(b.T) if TURNED else b
                    seen = b.T if TURNED else b
                    check(Matmul.infer(a, seen), {"a": a, "b": b}, a.astype(np.float32) @ seen.astype(np.float32))
"""

CONVOLUTIONS = """
TURNED = False
from ep_primitives.families.convolution.family import ConvolutionFamily
for dtype in ("float32", "float64"):
    for (c, h, w), (m, *window), more in (
        ((130, 3, 5), (50, 3, 3), {"pads": 1}),
        ((65, 7, 13), (90, 3, 3), {"pads": 2, "strides": 2}),
        ((130, 4, 4), (60, 2, 3), {}),
        ((70, 5, 17), (80, 3, 3), {"dilations": 2, "pads": (2, 3)}),
        ((64, 1, 40), (130, 1, 9), {"pads": (0, 4)}),
    ):
        x, filters = RNG.standard_normal((1, c, h, w)).astype(dtype), RNG.standard_normal((m, c, *window)).astype(dtype)
        whole = Convolution.infer(x, filters, **more)
        assert whole.on(DEVICE).implementation.name == "WindowedMatmul", whole
        check(whole, {"x": x, "w": filters}, ConvolutionFamily().reference(whole, {"x": x, "w": filters}).value)
"""

POOLS = """
TURNED = False
from ep_primitives import Pool
from ep_primitives.families.pool.family import PoolFamily
for dtype in ("float32", "float64", "float16"):
    for width in (*range(1, 20), 31, 32, 33, 34, 63, 64, 65, 66, 130):
        for more in ({"strides": 2, "pads": 1}, {"strides": (1, 3), "pads": (0, 1)}, {"pads": 1}):
            x = RNG.integers(-9, 9, (1, 2, 5, width)).astype(dtype)
            for op in ("max", "average"):
                whole = Pool.infer(op, x, (2, 2), **more)
                check(whole, {"x": x}, PoolFamily().reference(whole, {"x": x}).value)
"""


@pytest.mark.parametrize(
    "work", [PRODUCTS, NARROW, CONVOLUTIONS, POOLS], ids=["products", "narrow", "convolutions", "pools"]
)
def test_nothing_is_read_or_written_beside_operands(fresh_python, isa, work):
    assert fresh_python(FENCED + work + "print('within')", EP_CPU_ISA=isa) == "within"
