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
