"""Visits: the packed geometry, read back as the kernel reads it, reaches each element of each operand once."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from ep_primitives import BroadcastBinary, ElementwiseUnary
from ep_simt import CPU, Given, Operand, bodies
from ep_simt.elementwise.visit import Layout

import ep

_A = ep.TensorSpec("float32", (5, 1, 7), (40, 0, -1), 6)
_B = ep.TensorSpec("float32", (3, 1))
_SHAPES = {
    "broadcast": BroadcastBinary.infer("add", _A, _B),
    "scalar": BroadcastBinary.infer("sub", ep.Scalar("float32"), ep.TensorSpec("float32", (4, 9), (18, 2))),
    "every-second": ElementwiseUnary.infer("exp", ep.TensorSpec("float32", (131,), (2,))),
    "rank-16": ElementwiseUnary.infer("exp", ep.TensorSpec("float32", (2,) * 16, tuple(2**i for i in range(16)))),
}


def target(run):
    return CPU._replace(run=4 * run, steps=run)


def launch(descriptor, run):
    """Return the one launch of a descriptor."""
    (only,) = bodies()[descriptor.family].plan(descriptor, target(run)).launches
    return only


def visited(descriptor, visit, *, wide):
    """Return for each operand the element offsets in the order of the output's, by the loop of loops.h."""
    numbers = struct.unpack(f"<102{'q' if wide else 'i'}", visit.arguments[0])
    rank, run, chunks, rows, items, batch = numbers[:6]
    shape = numbers[6 : 6 + rank]
    strides = [numbers[22 + 16 * k : 22 + 16 * k + rank] for k in range(len(descriptor.specs))]
    taken = [range(first * batch, min(first * batch + batch, items)) for first in range(visit.items)]
    found = []
    for item in (item for each in taken for item in each):
        chunk, row = divmod(item, rows) if rows else divmod(item, chunks)[::-1]
        first = chunk * run
        for i in range(first, min(first + run, shape[0])):
            index, left = [i], row
            for extent in shape[1:]:
                index.append(left % extent)
                left //= extent
            found.append([sum(a * b for a, b in zip(index, each, strict=True)) for each in strides])
    return np.array(found).T + np.array(descriptor.geometry.offsets)[:, None]


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("run", [1, 4, 64])
@pytest.mark.parametrize("name", _SHAPES)
def test_visit_reaches_every_element_once(name, run, wide):
    descriptor = _SHAPES[name]
    reached = visited(descriptor, Layout(strided=True, wide=wide).visit(descriptor.geometry, target(run)), wide=wide)
    order = np.argsort(reached[-1])
    assert np.array_equal(reached[-1][order], np.arange(descriptor.out.size))
    for spec, offsets in zip(descriptor.specs, reached, strict=True):
        if isinstance(spec, ep.Scalar):
            assert not offsets.any()
            continue
        elements = np.lib.stride_tricks.as_strided(np.arange(1), spec.shape, (0,) * len(spec.shape))
        where = sum(
            (np.arange(n).reshape((-1,) + (1,) * (spec.ndim - 1 - axis)) * s)
            for axis, (n, s) in enumerate(zip(spec.shape, spec.strides, strict=True))
        )
        want = np.broadcast_to(where + elements + spec.offset, descriptor.out.shape).ravel()
        assert np.array_equal(offsets[order], want)


def test_arguments_of_a_strided_launch_are_operands_and_a_geometry():
    descriptor = _SHAPES["scalar"]
    only = launch(descriptor, 4)
    number, *operands, _, _, geometry = only.arguments
    assert (number, operands) == (Given(0), [Operand(0, 4), Operand(1, 4)])
    assert isinstance(geometry, bytes)


def test_operand_begins_at_its_offset():
    first, *_ = launch(_SHAPES["broadcast"], 4).arguments
    assert first == Operand(0, 4, 6)


def test_dense_launch_takes_its_size_in_runs():
    descriptor = ElementwiseUnary.infer("exp", ep.TensorSpec("float32", (3, 5)))
    only = launch(descriptor, 4)
    assert (only.items, only.arguments[-2:]) == (1, (15, 16))


def test_visit_of_nothing_has_no_items():
    descriptor = ElementwiseUnary.infer("exp", ep.TensorSpec("float32", (3, 0, 5), (9, 9, 1)))
    assert launch(descriptor, 64).items == 0


def test_attributes_are_padded_to_what_entries_take():
    descriptor = ElementwiseUnary.infer("elu", ep.TensorSpec("float32", (3,)), alpha=0.5)
    assert launch(descriptor, 64).arguments[2:4] == (0.5, 0.0)
