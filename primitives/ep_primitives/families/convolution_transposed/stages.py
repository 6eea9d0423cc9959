"""The lowering of ConvolutionTransposed: convolutions with flipped weights, one for all places of y that meet the same ones.

Places of y that lie a stride apart meet the same weights, and neighbours in x: they are a convolution that does not stride.
Where some places meet none, or there would be many convolutions, x is spread, and all of y is one convolution of it.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Final, NamedTuple

from ep import Stage, TensorSpec
from ep_primitives.families.convolution.descriptor import Convolution
from ep_primitives.families.copy.descriptor import Copy
from ep_primitives.families.fill.descriptor import Fill

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ep_primitives.families.convolution_transposed.descriptor import ConvolutionTransposed

__all__ = ["stages"]

_MOST_CONVOLUTIONS: Final = 16


class _Phase(NamedTuple):
    """The places first, first + stride, ... of y in one dimension, and what they meet.

    places      : how many these are
    last, terms : the last weight that they meet, and how many
    step        : from a weight that they meet to the next one
    dilation    : from the element of x that one of them meets to that which the one before meets
    front, back : elements beside x that windows reach; negative where they leave some of x out
    """

    first: int
    places: int
    last: int
    terms: int
    step: int
    dilation: int
    front: int
    back: int


def stages(whole: ConvolutionTransposed) -> Iterator[Stage]:
    """Yield the stages: weights turned round where that takes a copy, and the convolutions."""
    strides = whole.sliding.strides
    phases = [_phases(whole, axis) for axis in range(len(strides))]
    is_split = 1 < math.prod(strides) <= _MOST_CONVOLUTIONS and whole.out.size and all(phases)
    yield from _split(whole, phases) if is_split else _spread(whole)


def _phases(whole: ConvolutionTransposed, axis: int) -> list[_Phase]:
    """Return the phases of a dimension; none if one of them has no place, or its places no weight or no part of x."""
    sliding = whole.sliding
    stride, dilation, before = sliding.strides[axis], sliding.dilations[axis], sliding.before[axis]
    extent, places = whole.x.shape[axis + 2], whole.out.shape[axis + 2]
    step = stride // math.gcd(stride, dilation)
    apart = step * dilation // stride
    found = []
    for first in range(stride):
        met = [k for k in range(sliding.window[axis]) if (first + before - k * dilation) % stride == 0]
        count = len(range(first, places, stride))
        if not met or not count:
            return []
        front = (met[-1] * dilation - first - before) // stride
        back = count + (len(met) - 1) * apart - front - extent
        if extent + min(front, 0) + min(back, 0) < 1:
            return []
        found.append(_Phase(first, count, met[-1], len(met), step, apart, front, back))
    return found


def _split(whole: ConvolutionTransposed, phases: list[list[_Phase]]) -> Iterator[Stage]:
    """Yield a convolution for each choice of phases. The weights of one group are turned where they lie."""
    w, factor = _channels_exchanged(whole), "w"
    if whole.groups > 1:
        dense, factor = TensorSpec(w.dtype, w.shape), "weights"
        yield Stage(Copy(x=w, out=dense), x="w", out=factor)
        w = dense
    weights = TensorSpec(w.dtype, (whole.out.shape[1], *w.shape[2:]), w.strides[1:], w.offset)
    given = {"bias": "bias"} if whole.bias else {}
    for phase in itertools.product(*phases):
        firsts, counts, lasts, terms, steps, dilations, front, back = ([*each] for each in zip(*phase, strict=True))
        convolved = Convolution(
            x=_cut(whole.x, front, back),
            w=_every(weights, terms, lasts, [-step for step in steps]),
            y=_every(whole.out, counts, firsts, whole.sliding.strides),
            bias=whole.bias,
            dilations=dilations,
            pads=[max(count, 0) for count in (*front, *back)],
            groups=whole.groups,
        )
        yield Stage(convolved, x="x", w=factor, y="y", **given)


def _spread(whole: ConvolutionTransposed) -> Iterator[Stage]:
    """Yield one convolution, of weights turned round, and of x copied between zeros if it strides."""
    sliding, x = whole.sliding, whole.x
    turned = _turned(whole)
    weights = TensorSpec(x.dtype, (whole.out.shape[1], *turned.shape[2:]))
    yield Stage(Copy(x=turned, out=TensorSpec(x.dtype, turned.shape)), x="w", out="weights")
    front = [span - 1 - before for span, before in zip(sliding.spans, sliding.before, strict=True)]
    length = [(extent - 1) * stride + 1 for extent, stride in zip(x.shape[2:], sliding.strides, strict=True)]
    needed = [extent + span - 1 for extent, span in zip(whole.out.shape[2:], sliding.spans, strict=True)]
    back = [whole - first - inside for whole, first, inside in zip(needed, front, length, strict=True)]
    before, after = (tuple([max(count, 0) for count in side]) for side in (front, back))
    source, pads = "x", (*before, *after)
    if length != [*x.shape[2:]]:
        extents = tuple([sum(each) for each in zip(before, length, after, strict=True)])
        spread, source, pads = TensorSpec(x.dtype, (*x.shape[:2], *extents)), "spread", (0,) * len(pads)
        yield Stage(Fill.infer(spread), value=0, out=source)
        yield Stage(Copy(x=x, out=_every(spread, x.shape[2:], before, sliding.strides)), x="x", out=source)
        x = spread
    x = _cut(x, front, back)
    given = {"bias": "bias"} if whole.bias else {}
    convolved = Convolution(
        x=x, w=weights, y=whole.out, bias=whole.bias, dilations=sliding.dilations, pads=pads, groups=whole.groups
    )
    yield Stage(convolved, x=source, w="weights", y="y", **given)


def _channels_exchanged(whole: ConvolutionTransposed) -> TensorSpec:
    """Return the weights as (groups, M / groups, C / groups, K...)."""
    w, groups = whole.w, whole.groups
    each = w.shape[0] // groups
    channel, made, *spatial = w.strides
    shape = (groups, w.shape[1], each, *w.shape[2:])
    return TensorSpec(w.dtype, shape, (each * channel, made, channel, *spatial), w.offset)


def _turned(whole: ConvolutionTransposed) -> TensorSpec:
    """Return the weights as (groups, M / groups, C / groups, K...), the spatial dimensions from their ends."""
    w = _channels_exchanged(whole)
    lasts = [extent - 1 for extent in w.shape[3:]] if w.size else [0] * len(w.shape[3:])
    return _every(w, w.shape[3:], lasts, [-1] * len(lasts))


def _every(spec: TensorSpec, counts: Sequence[int], firsts: Sequence[int], steps: Sequence[int]) -> TensorSpec:
    """Return so many elements of each of the last dimensions, from the first one on, each a step from the one before."""
    lead = spec.ndim - len(counts)
    along = spec.strides[lead:]
    offset = spec.offset + sum(first * stride for first, stride in zip(firsts, along, strict=True))
    apart = [stride * step for stride, step in zip(along, steps, strict=True)]
    return TensorSpec(spec.dtype, (*spec.shape[:lead], *counts), (*spec.strides[:lead], *apart), offset)


def _cut(x: TensorSpec, front: Sequence[int], back: Sequence[int]) -> TensorSpec:
    """Return x without the elements that negative counts in front and back cut off."""
    firsts, lasts = ([max(-count, 0) for count in side] for side in (front, back))
    shape = [extent - first - last for extent, first, last in zip(x.shape[2:], firsts, lasts, strict=True)]
    offset = sum(first * stride for first, stride in zip(firsts, x.strides[2:], strict=True))
    return TensorSpec(x.dtype, (*x.shape[:2], *shape), x.strides, x.offset + offset)
