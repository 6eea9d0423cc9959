"""The lowering of Pool: a reduction over windows as views of x, continued where windows reach beyond it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep import Stage, TensorSpec
from ep_primitives.families.broadcast_binary.descriptor import BroadcastBinary
from ep_primitives.families.cast.descriptor import Cast
from ep_primitives.families.fill.descriptor import Fill
from ep_primitives.families.pad.descriptor import Pad
from ep_primitives.families.pool.rows import POOL_OPS
from ep_primitives.families.reduce.descriptor import Reduce

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_primitives.families.pool.descriptor import Pool

__all__ = ["stages"]


def stages(whole: Pool) -> Iterator[Stage]:
    """Yield the stages. Places outside x have the op's identity; averages without them are a sum and a quotient."""
    x, source = whole.x, "x"
    sliding, extents, counts = whole.sliding, whole.x.shape[2:], whole.out.shape[2:]
    row = POOL_OPS[whole.op]
    is_continued = sliding.touches_more(extents, counts)
    if is_continued:
        behind = sliding.behind(extents, counts)
        x, source = TensorSpec(x.dtype, (*x.shape[:2], *sliding.reach(counts))), "continued"
        pad = Pad("constant", x=whole.x, out=x, before=(0, 0, *sliding.before), after=(0, 0, *behind))
        yield Stage(pad, x="x", value=row.beside(x.dtype), out=source)
    windows, axes = _windows(whole, x)
    if not is_continued or whole.op != "average" or (whole.counts_pads and not _reaches_beyond_pads(whole)):
        yield Stage(Reduce(row.reduction, x=windows, out=whole.out, axis=axes), x=source, out="y")
        return
    wide = whole.compute
    sums, name = (whole.out, "y") if wide == whole.out.dtype else (TensorSpec(wide, whole.out.shape), "sums")
    yield Stage(Reduce("sum", x=windows, out=sums, axis=axes), x=source, out=name)
    yield from _counted(whole)
    number = TensorSpec(wide, counts)
    yield Stage(BroadcastBinary("div", a=sums, b=number, out=sums), a=name, b="numbers", out=name)
    if name != "y":
        yield Stage(Cast(x=sums, out=whole.out), x=name, out="y")


def _windows(whole: Pool, x: TensorSpec) -> tuple[TensorSpec, range]:
    """Return all windows of x, (..., O..., K...), any dimensions before the spatial ones, and the axes of K."""
    sliding, counts = whole.sliding, whole.out.shape[2:]
    lead = x.ndim - len(counts)
    spatial = x.strides[lead:]
    shape = (*x.shape[:lead], *counts, *sliding.window)
    strides = (*x.strides[:lead], *sliding.between(spatial), *sliding.within(spatial))
    return TensorSpec(x.dtype, shape, strides, x.offset), range(x.ndim, len(shape))


def _reaches_beyond_pads(whole: Pool) -> bool:
    """Return True if windows touch places that are neither in x nor pads."""
    sliding = whole.sliding
    behind = sliding.behind(whole.x.shape[2:], whole.out.shape[2:])
    return any(touched > after for touched, after in zip(behind, sliding.after, strict=True))


def _counted(whole: Pool) -> Iterator[Stage]:
    """Yield the stages of "numbers", of shape O: the elements, and pads if they count, of each window of an image."""
    sliding, counts, wide = whole.sliding, whole.out.shape[2:], whole.compute
    before, extents = sliding.before, whole.x.shape[2:]
    if whole.counts_pads:
        sides = zip(before, extents, sliding.after, strict=True)
        extents, before = tuple([sum(each) for each in sides]), (0,) * len(before)
    reach = sliding.reach(counts)
    after = tuple([whole - first - extent for whole, first, extent in zip(reach, before, extents, strict=True)])
    ones, beside = TensorSpec(wide, extents), TensorSpec(wide, reach)
    yield Stage(Fill.infer(ones), value=1, out="ones")
    yield Stage(Pad("constant", x=ones, out=beside, before=before, after=after), x="ones", out="counted")
    windows, axes = _windows(whole, beside)
    yield Stage(Reduce("sum", x=windows, out=TensorSpec(wide, counts), axis=axes), x="counted", out="numbers")
