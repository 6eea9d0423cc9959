"""Scan by work-items that are alone: pieces of a long row, some at a time where all are whole, the others one by one."""

from __future__ import annotations

import numpy as np
import pytest
from ep_primitives import Scan
from ep_simt.families.scan.cut import ABREAST, PIECE

import ep

EXTENTS = (PIECE * ABREAST, PIECE * ABREAST + 1, PIECE * (ABREAST + 1) - 1, PIECE * (2 * ABREAST + 2) + 5)
WAYS = {"forth": {}, "back": {"reverse": True}, "exclusive": {"exclusive": True}}


@pytest.mark.parametrize("extent", EXTENTS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("op", ["sum", "max"])
@pytest.mark.parametrize("step", [1, 3])
def test_row_of_whole_pieces_and_others(device, stream, op, way, step, extent):
    held = np.random.default_rng(extent).integers(-9, 9, (3, extent * step)).astype(np.int32)
    x = ep.TensorSpec("int32", (3, extent), (extent * step, step))
    descriptor = Scan.infer(op, x, 1, **WAYS[way])
    out = device.empty(descriptor.specs[-1])
    descriptor.on(device)(stream, x=device.tensor(held).memory, out=out)
    row = held[:, ::step][:, ::-1] if way == "back" else held[:, ::step]
    made = (np.cumsum if op == "sum" else np.maximum.accumulate)(row, axis=1, dtype=np.int32)
    if way == "exclusive":
        first = 0 if op == "sum" else np.iinfo(np.int32).min
        made = np.concatenate([np.full((3, 1), first, np.int32), made[:, :-1]], axis=1)
    np.testing.assert_array_equal(out.numpy(stream), made[:, ::-1] if way == "back" else made)


@pytest.mark.parametrize("extent", EXTENTS)
def test_sums_of_floats_of_a_row_are_those_among_many_and_in_place(device, stream, extent):
    held = np.random.default_rng(extent).standard_normal((5, extent)).astype(np.float32)
    many, one = device.tensor(held), device.tensor(held[3:4])
    for x in (many, one):
        Scan.infer("sum", x.spec, 1).on(device)(stream, x=x.memory, out=x.memory)
    made = many.numpy(stream)
    np.testing.assert_array_equal(one.numpy(stream)[0].view(np.uint32), made[3].view(np.uint32))
    np.testing.assert_allclose(made, np.cumsum(held.astype(np.float64), axis=1), rtol=1e-6, atol=1e-4)
