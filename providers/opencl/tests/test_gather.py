"""Gather of an x beyond a core's own caches: rows of later indices are asked for, as long as there are such indices."""

from __future__ import annotations

import numpy as np
import pytest
from ep_primitives import Gather
from ep_simt.families.gather.body import AHEAD, FAR

import ep


@pytest.mark.parametrize("count", [1, AHEAD - 1, AHEAD, AHEAD + 1, 20_001])
@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("width", [1, 3, 4, 7, 100])
@pytest.mark.parametrize("step", [1, 2])
def test_rows_of_a_far_x(device, stream, width, index, count, step):
    rows = FAR // (4 * width) + 1
    held = np.random.default_rng(5).integers(0, 1 << 31, (rows, width), np.uint32).view(np.float32)
    chosen = np.random.default_rng(6).integers(-9, rows + 9, count * step).astype(index)
    chosen[-step] = np.iinfo(index).max  # of the last one nothing is asked for, and nothing is there
    x, indices = ep.TensorSpec("float32", held.shape), ep.TensorSpec(index, (count,), (step,))
    descriptor = Gather.infer(x, indices, axis=0)
    assert x.nbytes > FAR
    out = device.empty(descriptor.specs[-1])
    descriptor.on(device)(stream, x=device.tensor(held).memory, indices=device.tensor(chosen).memory, out=out)
    taken = chosen[::step]
    is_there = (taken >= 0) & (taken < rows)
    expected = np.where(is_there[:, None], held[np.where(is_there, taken, 0)], np.float32(0))
    np.testing.assert_array_equal(out.numpy(stream).view(np.uint32), expected.view(np.uint32))
