"""Tensors that lie in some other way than dense: boxes of larger ones, read in either direction, permuted, repeated."""

import numpy as np
from ep_primitives.judging.reference import array_dtype
from hypothesis import strategies as st

import ep

_BOXED = 6
"""Dimensions from which on boxes of larger tensors would need much memory."""


@st.composite
def arrangements(draw, rank, *, signs=(1, 1, 1, -1)):
    """Draw the margins, signs and order of dimensions of `placed`; half of them leave all as it is, so that some merge."""
    if draw(st.booleans()):
        return [0] * rank, [1] * rank, list(range(rank))
    margins = (0, 0, 2) if rank <= _BOXED else (0,)
    margin = [draw(st.sampled_from(margins)) for _ in range(rank)]
    return margin, [draw(st.sampled_from(signs)) for _ in range(rank)], draw(st.permutations(range(rank)))


def placed(shape, margin, sign, order, dtype):
    """Return zeros and a view of them of this shape, a box read in some direction and order; a sign of 0 repeats."""
    kind = array_dtype(dtype)
    base = np.zeros([shape[axis] + margin[axis] for axis in order], f"V{kind.itemsize}")
    view = base.transpose(np.argsort(order).astype(int))
    view = view[(..., *(slice(extent) for extent in shape))]  # dots, because rank 0 would give a number of its own
    view = view[(..., *(slice(None, None, step) if step else slice(1) for step in sign))]
    begins = [array.__array_interface__["data"][0] for array in (view, base)]
    offset = (begins[0] - begins[1]) // kind.itemsize if view.size else 0
    strides = tuple(stride * (step != 0) for stride, step in zip(view.strides, sign, strict=True))
    spec = ep.TensorSpec(dtype, shape, tuple(stride // kind.itemsize for stride in strides), offset)
    return base, np.lib.stride_tricks.as_strided(view, shape, strides), spec


def wrapped(device, array):
    """Return a memory over all bytes of an array."""
    return device.wrap_host(array.ctypes.data, array.nbytes, array)
