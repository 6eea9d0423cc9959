"""Scans of columns: whole lines past the caches, and the lines beside them."""

import numpy as np
import pytest
from boxes import wrapped
from ep_primitives import Scan

import ep


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize("exclusive", [False, True])
def test_columns_past_the_caches_are_numpys(device, stream, dtype, shift, exclusive):
    """Sums of small whole numbers are exact; out begins at a line or inside one, and its last tile is no whole one."""
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
