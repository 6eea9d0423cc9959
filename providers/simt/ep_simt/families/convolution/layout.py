"""The layout of a convolution as windows.h reads it: matrices of weights, windows and places, for each image and group."""

from __future__ import annotations

import functools
import math
import struct
from typing import TYPE_CHECKING, Final

from ep_primitives.families.convolution.stages import grouped, matrix

from ep_simt.products.matrices import Matrices
from ep_simt.program import Parameter
from ep_simt.program import struct as structure
from ep_simt.rows.geometry import packed_rows

if TYPE_CHECKING:
    from ep_primitives import Convolution

__all__ = ["matrices_of", "packed_batches", "packed_windows", "reach_of", "windows_parameter"]

_FIELDS: Final = 9
"""Numbers for each spatial dimension, before that of a channel."""


def matrices_of(convolution: Convolution) -> Matrices | None:
    """Return the matrices of an image and a group: weights by windows; None if strides cannot say that of w.

    Windows, and the places of y in a channel, lie as ep_windows says, not in columns.
    """
    spatial = len(convolution.strides)
    weights = matrix(grouped(convolution, convolution.w), (1, 1, spatial + 1))
    if weights is None:
        return None
    bias = convolution.bias.strides[0] if convolution.bias else 0
    y, (_, m, k), (_, *a) = convolution.out, weights.shape, weights.strides
    out = (y.strides[1], 0)
    return Matrices(("w", "x", "bias", "y"), m, math.prod(y.shape[2:]), k, (a[0], a[1]), (0, 0), (bias, 0), out)


def reach_of(convolution: Convolution) -> int:
    """Return how far windows reach, in elements and in coordinates, from the first element of an image's group on at most.

    Places of y in a channel count as well.
    """
    x, y, sliding = convolution.x, convolution.out, convolution.sliding
    reach = sliding.reach(convolution.out.shape[2:])
    spans = [before + most + extent for before, most, extent in zip(sliding.before, reach, x.shape[2:], strict=True)]
    steps = zip((*spans, x.shape[1]), (*x.strides[2:], x.strides[1]), strict=True)
    made = zip(y.shape[2:], y.strides[2:], strict=True)
    return max(*spans, *(sum(span * abs(stride) for span, stride in each) for each in (steps, made)))


def packed_windows(convolution: Convolution, *, wide: bool) -> bytes:
    """Return the structure ep_windows."""
    x, sliding = convolution.x, convolution.sliding
    nothing = (0,) * len(sliding.window)
    terms = (*sliding.window, *sliding.dilations, *nothing)
    places = (*convolution.out.shape[2:], *sliding.strides, *(-before for before in sliding.before))
    numbers = (*terms, *places, *x.shape[2:], *x.strides[2:], *convolution.out.strides[2:], x.strides[1])
    return _form(len(sliding.window), wide=wide).pack(*numbers)


def packed_batches(convolution: Convolution, *, wide: bool) -> bytes:
    """Return the geometry of images and groups, of weights, windows, bias and places."""
    groups, x, y = convolution.groups, convolution.x, convolution.out
    made, given = y.shape[1] // groups, x.shape[1] // groups
    bias = convolution.bias.strides[0] if convolution.bias else 0
    strides = (
        (0, made * convolution.w.strides[0]),
        (x.strides[0], given * x.strides[1]),
        (0, made * bias),
        (y.strides[0], made * y.strides[1]),
    )
    return packed_rows((y.shape[0], groups), strides, 2, wide=wide)


def windows_parameter(spatial: int, *, wide: bool) -> Parameter:
    """Return the parameter of the structure, for so many spatial dimensions."""
    return structure("layout", "ep_windows", _form(spatial, wide=wide).size)


@functools.cache
def _form(spatial: int, *, wide: bool) -> struct.Struct:
    return struct.Struct(f"<{_FIELDS * spatial + 1}{'q' if wide else 'i'}")
