"""Shapes of any rank, and tensors that broadcast to them and lie as boxes do."""

from typing import NamedTuple

import numpy as np
from boxes import arrangements, placed, wrapped
from ep_primitives.judging.reference import Array
from hypothesis import strategies as st

import ep

EXTENTS = (1, 1, 2, 3, 5, 17)
MOST = 6000
"""Elements of a tensor; several blocks of the kernels."""


class Box(NamedTuple):
    """A tensor of bytes of any values: its memory, the tensor's part of it, and its description."""

    memory: Array
    view: Array
    spec: ep.TensorSpec

    def on(self, device):
        """Return the memory as the device's."""
        return wrapped(device, self.memory)

    def holding(self, elements):
        """Return the memory as it must be after a write of `elements` to the tensor, and to nothing else."""
        memory = self.memory.copy()
        if self.view.size:
            first = memory.reshape(-1)[self.spec.offset :]
            np.lib.stride_tricks.as_strided(first, self.view.shape, self.view.strides)[...] = elements
        return memory


@st.composite
def shapes(draw):
    """Draw extents of rank 0 to 16; half of them have one that is longer than a block, or 0."""
    rank = draw(st.one_of(st.integers(0, 4), st.integers(0, 16)))
    shape = [draw(st.sampled_from(EXTENTS)) for _ in range(rank)]
    while np.prod(shape) > MOST // 8:
        shape[shape.index(max(shape))] = 1
    if rank and draw(st.booleans()):
        shape[draw(st.integers(0, rank - 1))] = draw(st.sampled_from((0, 513, MOST)))
    while np.prod(shape) > MOST:
        shape[shape.index(max(shape))] //= 2
    return tuple(shape)


@st.composite
def boxes(draw, shape, dtype, *, is_output=False):
    """Draw how an output of a shape lies, or an input that broadcasts to it."""
    if not is_output:
        shape = shape[draw(st.sampled_from((0, 0, len(shape) // 2, len(shape)))) :]
        shape = tuple(draw(st.sampled_from((extent, extent, extent, 1))) for extent in shape)
    margin, sign, order = draw(arrangements(len(shape), signs=(1, 1, 1, -1) if is_output else (1, 1, 1, -1, 0)))
    rank = len(shape)
    # A dimension more that is left out again: no elements are side by side.
    more = [1] if rank < ep.layout.spec.MAX_RANK and draw(st.integers(0, 2)) == 0 else []
    memory, view, spec = placed(
        (*shape, *more), [*margin, *more], [*sign, *more], [*order, rank][: rank + len(more)], dtype
    )
    random = np.random.default_rng(draw(st.integers(0, 2**30)))
    memory[...] = random.integers(0, 256, memory.nbytes, np.uint8).view(memory.dtype).reshape(memory.shape)
    return Box(memory, view[..., 0] if more else view, ep.TensorSpec(dtype, shape, spec.strides[:rank], spec.offset))
