"""Scan by groups of work-items, as GPUs have them: rows of many pieces and blocks of pieces, along and across memory."""

from __future__ import annotations

import ep_simt
import numpy as np
import pytest
from ep.work.cache import LRU
from ep_primitives import Scan

GROUP = 8
PIECE = GROUP * 16
BLOCK = 32


@pytest.fixture(params=[16, 0], ids=["words", "elements"])
def scanned(device, stream, put, get, monkeypatch, request):
    """Return a function that scans an array in place with small groups, and says which entries did."""
    monkeypatch.setattr(device.twin, "target", ep_simt.GPU._replace(group=GROUP, spread=request.param))
    monkeypatch.setattr(device.twin, "_programs", LRU())
    portable = ep_simt.Portable()

    def scan(op, x, axis, **way):
        descriptor = Scan.infer(op, x, axis, **way)
        kernel = portable.create(descriptor, device.twin, portable.compile(descriptor.key, device.twin))
        memory = put(x)
        scratch = device.allocate(max(1, kernel.scratch_nbytes))
        kernel.launch(stream.twin, (memory, memory, scratch), ())
        plan = ep_simt.bodies()["scan"].plan(descriptor, device.twin.target)
        return get(memory, x.dtype).reshape(x.shape), [launch.entry for launch in plan.launches]

    return scan


def rows(number, extent):
    return np.random.default_rng(0).standard_normal((number, extent)).astype(np.float32)


def test_sums_of_a_row_have_the_same_bits_however_many_rows_there_are(scanned):
    x = rows(256, PIECE * (2 * BLOCK + 3) + 5)
    many, one = scanned("sum", x, 1)
    few, three = scanned("sum", x[:2], 1)
    assert (len(one), len(three)) == (1, 3)
    np.testing.assert_array_equal(many[:2].view(np.uint32), few.view(np.uint32))


@pytest.mark.parametrize("way", [{}, {"reverse": True}, {"exclusive": True}], ids=["forth", "back", "exclusive"])
def test_carries_of_more_blocks_than_a_group_has_work_items(scanned, way):
    x = rows(2, PIECE * BLOCK * GROUP * 2 + PIECE + 3)
    made, entries = scanned("sum", x, 1, **way)
    assert len(entries) == 3
    wide = np.cumsum(x[:, ::-1] if "reverse" in way else x, 1, dtype=np.float64)
    wide = wide[:, ::-1] if "reverse" in way else wide
    wide = np.concatenate([np.zeros((2, 1)), wide[:, :-1]], 1) if "exclusive" in way else wide
    np.testing.assert_allclose(made, wide, rtol=0, atol=30 * 2.0**-24 * np.abs(x).sum(1).max())


@pytest.mark.parametrize("shape", [(7, 300), (300, 7), (5000, 3)], ids=str)
def test_rows_across_memory(scanned, shape):
    x = np.random.default_rng(0).integers(-9, 9, (2, *shape)).astype(np.int32)
    for axis in (0, 1, 2):
        made, _ = scanned("sum", x, axis)
        np.testing.assert_array_equal(made, np.cumsum(x, axis))
        made, _ = scanned("max", x, axis, reverse=True)
        np.testing.assert_array_equal(made, np.flip(np.maximum.accumulate(np.flip(x, axis), axis), axis))
