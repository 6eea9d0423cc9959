"""The lowering of ConvolutionTransposed: a convolution with flipped weights, of x spread where it strides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep import Stage, TensorSpec
from ep_primitives.families.convolution.descriptor import Convolution
from ep_primitives.families.copy.descriptor import Copy
from ep_primitives.families.fill.descriptor import Fill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_primitives.families.convolution_transposed.descriptor import ConvolutionTransposed

__all__ = ["stages"]


def stages(whole: ConvolutionTransposed) -> Iterator[Stage]:
    """Yield the stages: weights turned round, x copied between zeros if it strides, and the convolution of both."""
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
        yield Stage(Copy(x=x, out=_every(spread, x, before, sliding.strides)), x="x", out=source)
        x = spread
    x = _cut(x, front, back)
    given = {"bias": "bias"} if whole.bias else {}
    convolved = Convolution(
        x=x, w=weights, y=whole.out, bias=whole.bias, dilations=sliding.dilations, pads=pads, groups=whole.groups
    )
    yield Stage(convolved, x=source, w="weights", y="y", **given)


def _turned(whole: ConvolutionTransposed) -> TensorSpec:
    """Return the weights as (groups, M / groups, C / groups, K...), the spatial dimensions from their ends."""
    w, groups = whole.w, whole.groups
    each = w.shape[0] // groups
    channel, made, *spatial = w.strides
    last = sum((extent - 1) * stride for extent, stride in zip(w.shape[2:], spatial, strict=True))
    shape = (groups, w.shape[1], each, *w.shape[2:])
    strides = (each * channel, made, channel, *(-stride for stride in spatial))
    return TensorSpec(w.dtype, shape, strides, w.offset + (last if w.size else 0))


def _every(spread: TensorSpec, x: TensorSpec, before: tuple[int, ...], strides: tuple[int, ...]) -> TensorSpec:
    """Return where the elements of x lie in a spread one."""
    along = spread.strides[2:]
    offset = sum(first * stride for first, stride in zip(before, along, strict=True))
    apart = tuple([stride * step for stride, step in zip(along, strides, strict=True)])
    return TensorSpec(x.dtype, x.shape, (*spread.strides[:2], *apart), offset)


def _cut(x: TensorSpec, front: list[int], back: list[int]) -> TensorSpec:
    """Return x without the elements that negative counts in front and back cut off."""
    firsts, lasts = ([max(-count, 0) for count in side] for side in (front, back))
    shape = [extent - first - last for extent, first, last in zip(x.shape[2:], firsts, lasts, strict=True)]
    offset = sum(first * stride for first, stride in zip(firsts, x.strides[2:], strict=True))
    return TensorSpec(x.dtype, (*x.shape[:2], *shape), x.strides, x.offset + offset)
