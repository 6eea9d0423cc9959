"""Scans of columns: whole lines past the caches, and the lines beside them."""

import itertools

import numpy as np
import pytest
from boxes import wrapped
from ep_primitives import Scan

import ep

EXTREMES = {"max": np.maximum, "min": np.minimum}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize("exclusive", [False, True])
def test_columns_past_the_caches_are_numpys(device, stream, dtype, shift, exclusive):
    """Sums of small whole numbers are exact; out begins at a line of memory or inside one, and so do its lines."""
    kind = np.dtype(dtype)
    x = np.random.default_rng(3).integers(-9, 9, (1600, 8192 // kind.itemsize + 8 * shift)).astype(kind)
    spec = ep.TensorSpec(dtype, x.shape)
    raw = np.full(x.nbytes + 256, 0xA5, np.uint8)
    begin = -raw.ctypes.data % 64 + shift * kind.itemsize
    target = raw[begin : begin + x.nbytes]
    descriptor = Scan.infer("sum", spec, axis=0, exclusive=exclusive)
    descriptor.on(device)(stream, x=wrapped(device, x), out=wrapped(device, target))
    wanted = np.cumsum(x, axis=0, dtype=kind)
    if exclusive:
        wanted -= x
    assert np.array_equal(target.view(kind).reshape(x.shape), wanted)
    assert (raw[:begin] == 0xA5).all()
    assert (raw[begin + x.nbytes :] == 0xA5).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint32"])
@pytest.mark.parametrize("op", EXTREMES)
@pytest.mark.parametrize("axis", [0, 1])
def test_extremes_are_numpys(device, stream, dtype, op, axis):
    """Rows of several runs, and more columns than go side by side; NaN stays from where it stands on."""
    kind = np.dtype(dtype)
    x = np.random.default_rng(4).integers(0, 1 << 31, (700, 1100)).astype(kind)
    if kind.kind == "f":
        x -= 1 << 30
        x[3::50, 5::70] = np.nan
    out = np.empty_like(x)
    descriptor = Scan.infer(op, ep.TensorSpec(dtype, x.shape), axis=axis)
    descriptor.on(device)(stream, x=wrapped(device, x), out=wrapped(device, out))
    assert np.array_equal(out, EXTREMES[op].accumulate(x, axis), equal_nan=kind.kind == "f")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axis", [0, 1])
def test_positive_zero_is_the_larger_one(device, stream, dtype, axis):
    x = np.full((64, 64), -0.0, dtype)
    x[20, :] = x[:, 20] = 0.0
    signs = {"max": np.logical_and, "min": np.logical_or}
    for zeros, op in itertools.product((x, -x), signs):
        out = np.empty_like(zeros)
        descriptor = Scan.infer(op, ep.TensorSpec(dtype, zeros.shape), axis=axis)
        descriptor.on(device)(stream, x=wrapped(device, zeros), out=wrapped(device, out))
        assert np.array_equal(np.signbit(out), signs[op].accumulate(np.signbit(zeros), axis)), op


@pytest.mark.parametrize("dtype", ["int8", "int16", "int64", "uint32", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("op", ["sum", "prod", "max"])
@pytest.mark.parametrize("exclusive", [False, True])
def test_short_rows_and_few_columns_have_the_bits_of_those_with_gaps(device, stream, dtype, op, exclusive):
    """Rows side by side, and lines that follow one another, go in ways of their own; so do parts of both."""
    if (op, dtype) == ("max", "complex64"):
        pytest.skip("complex numbers have no order")
    rng = np.random.default_rng(5)

    def scanned(x, out, axis):
        specs = [ep.TensorSpec.of(array) for array in (x, out)]
        Scan.infer(op, specs[0], axis, exclusive=exclusive, out=specs[1]).on(device)(stream, x=x, out=out)

    for n, axis in itertools.product((1, 4, 5, 31, 32, 33, 64, 65, 100, 128, 129), (0, 1)):
        shape = (37, n) if axis else (n, 5 + n % 13)
        x = rng.choice([0.0, -0.0, -0.75, 0.5, 1.25, 3], shape).astype(dtype)
        if op == "max" and x.dtype.kind == "f":
            x[3::9, 2::7] = np.nan
        with_gaps, boxed = np.zeros((shape[0], 2 * shape[1]), dtype), np.full((shape[0], shape[1] + 3), 7, dtype)
        wanted, out = np.empty_like(x), np.empty_like(x)
        with_gaps[:, ::2] = x
        scanned(with_gaps[:, ::2], wanted, axis)
        scanned(x, out, axis)
        assert out.tobytes() == wanted.tobytes(), (n, axis)
        boxed[:, :-3] = x
        scanned(boxed[:, :-3], boxed[:, :-3], axis)
        assert np.ascontiguousarray(boxed[:, :-3]).tobytes() == wanted.tobytes(), (n, axis)
        assert (boxed[:, -3:] == 7).all()
