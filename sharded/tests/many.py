"""Sharded tensors for tests: ranks of one process in a mesh, fed by one thread."""

import itertools
from contextlib import contextmanager

import numpy as np
from ep_collectives import local_groups
from ep_sharded import Broadcast, Mesh, Partial, distribute

import ep


class Many:
    """A mesh at every rank, each with an asynchronous stream."""

    def __init__(self, extents, names):
        groups = local_groups(len(names), timeout=20)
        devices = [ep.device(name) for name in names]
        self.communicators = [ep.communicator(*each) for each in zip(devices, groups, strict=True)]
        self.meshes = [Mesh(each, extents) for each in self.communicators]
        self.streams = [device.stream(synchronous=False) for device in devices]

    def each(self, do, *columns):
        """Return what `do(stream, one of each column)` returns at every rank."""
        return [do(*row) for row in zip(self.streams, *columns, strict=True)]

    def distribute(self, array, placements):
        return [distribute(*both, array, *placements) for both in zip(self.streams, self.meshes, strict=True)]

    def to(self, tensors, placements):
        return self.each(lambda stream, tensor: tensor.to(stream, *placements), tensors)

    def whole(self, tensors):
        """Return the whole tensor, after asserting that every rank makes the same of it."""
        everywhere = self.to(tensors, [Broadcast()] * len(self.meshes[0].extents))
        found = self.each(lambda stream, tensor: tensor.local.numpy(stream), everywhere)
        for other in found[1:]:
            np.testing.assert_array_equal(found[0], other)
        return found[0]

    def close(self):
        for each in (*self.meshes, *self.communicators):
            each.close()


@contextmanager
def many(*extents, names=None):
    """Ranks in a mesh, on cpu:0 unless devices are named."""
    made = Many(extents, names or ["cpu:0"] * int(np.prod(extents)))
    try:
        yield made
    finally:
        made.close()


def whole_numbers(shape, dtype, seed=0):
    """Small whole numbers, whose sums and few products are exact in any order."""
    return np.random.default_rng(seed).integers(-2, 3, shape).astype(dtype)


def legal(candidates, dimensions):
    """All placements of a mesh whose partial ones have one op."""
    for chosen in itertools.product(candidates, repeat=dimensions):
        if len({each for each in chosen if isinstance(each, Partial)}) <= 1:
            yield chosen
