"""The stages of Attention: two products and, between them, changes of the scores in place."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ep import Scalar, Stage, TensorSpec
from ep_primitives.families.broadcast_binary.descriptor import BroadcastBinary
from ep_primitives.families.cast.descriptor import Cast
from ep_primitives.families.elementwise_unary.descriptor import ElementwiseUnary
from ep_primitives.families.fill.descriptor import Fill
from ep_primitives.families.matmul.descriptor import Matmul
from ep_primitives.families.reduce.descriptor import Reduce
from ep_primitives.families.softmax.descriptor import Softmax
from ep_primitives.families.where.descriptor import Where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_primitives.families.attention.descriptor import Attention

__all__ = ["stages"]


def stages(attention: Attention) -> Iterator[Stage]:
    """Yield the stages. The scores are one temporary of the compute type; 16-bit types are rounded once, at the end.

    A row of -inf alone becomes NaN in the softmax and 0 after the second product, of which there is less.
    """
    out, v, wide = attention.out, attention.v, attention.compute
    scores, is_wide = TensorSpec(wide, attention.scores), out.dtype == wide
    product = Matmul(
        a=_split(attention, attention.q), b=_swapped(_split(attention, attention.k)), out=_split(attention, scores)
    )
    yield Stage(product, a="q", b="k", alpha=attention.scale / (attention.softcap or 1), out="scores")
    yield from _capped(attention, scores)
    yield from _masked(attention, scores)
    if attention.is_causal:
        yield from _causal(attention, scores)
    if attention.leaves_out_rows:
        tops = TensorSpec(wide, (*scores.shape[:-1], 1))
        rows = TensorSpec("bool", tops.shape)
        yield Stage(Reduce("max", x=scores, out=tops, axis=-1), x="scores", out="tops")
        yield Stage(BroadcastBinary("equal", a=tops, b=Scalar(wide), out=rows), a="tops", b=-math.inf, out="left out")
    yield Stage(Softmax(x=scores, out=scores), x="scores", out="scores")
    whole, place, values, its = out, "out", v, "v"
    if not is_wide:
        whole, place, values, its = TensorSpec(wide, out.shape), "wide", TensorSpec(wide, v.shape), "wide v"
        yield Stage(Cast(x=v, out=values), x="v", out=its)
    product = Matmul(a=_split(attention, scores), b=_split(attention, values), out=_split(attention, whole))
    yield Stage(product, a="scores", b=its, out=place)
    if attention.leaves_out_rows:
        chosen = Where(condition=rows, a=Scalar(wide), b=whole, out=whole)
        yield Stage(chosen, condition="left out", a=0, b=place, out=place)
    if not is_wide:
        yield Stage(Cast(x=whole, out=out), x=place, out="out")


def _capped(attention: Attention, scores: TensorSpec) -> Iterator[Stage]:
    """Yield the stages that limit scores which were divided by the softcap."""
    if attention.softcap:
        yield Stage(ElementwiseUnary("tanh", x=scores, out=scores), x="scores", out="scores")
        number = Scalar(scores.dtype)
        scaled = BroadcastBinary("mul", a=scores, b=number, out=scores)
        yield Stage(scaled, a="scores", b=attention.softcap, out="scores")


def _masked(attention: Attention, scores: TensorSpec) -> Iterator[Stage]:
    """Yield the stages of a mask."""
    mask, name = attention.mask, "mask"
    if mask is None:
        return
    if mask.dtype == "bool":
        chosen = Where(condition=mask, a=scores, b=Scalar(scores.dtype), out=scores)
        yield Stage(chosen, condition="mask", a="scores", b=-math.inf, out="scores")
        return
    if mask.dtype != scores.dtype:
        wide, name = TensorSpec(scores.dtype, mask.shape), "wide mask"
        yield Stage(Cast(x=mask, out=wide), x="mask", out=name)
        mask = wide
    yield Stage(BroadcastBinary("add", a=scores, b=mask, out=scores), a="scores", b=name, out="scores")


def _causal(attention: Attention, scores: TensorSpec) -> Iterator[Stage]:
    """Yield the stages that leave later keys out: L + S - 1 bools, of which each query sees a window of S."""
    queries, keys = scores.shape[-2:]
    size = queries + keys - 1
    seen = min(max(queries + attention.offset, 0), size)
    if not scores.size or seen == size:
        return
    number = Scalar("bool")
    for value, begin, end in ((True, 0, seen), (False, seen, size)):
        if begin < end:
            fill = Fill(value=number, out=TensorSpec("bool", (end - begin,), (1,), begin))
            yield Stage(fill, value=value, out="seen")
    window = TensorSpec("bool", (queries, keys), (-1, 1), queries - 1)
    chosen = Where(condition=window, a=scores, b=Scalar(scores.dtype), out=scores)
    yield Stage(chosen, condition="seen", a="scores", b=-math.inf, out="scores")


def _split(attention: Attention, spec: TensorSpec) -> TensorSpec:
    """Return a tensor with its heads in two extents if q has more than k: k's heads, and q's heads for each."""
    heads = attention.k.shape[-3:-2]
    if attention.groups == 1 or heads == (1,):
        return spec
    kept, each = heads[0], spec.shape[-3] // heads[0]
    step = spec.strides[-3]
    return TensorSpec(
        spec.dtype,
        (*spec.shape[:-3], kept, each, *spec.shape[-2:]),
        (*spec.strides[:-3], step * each, step, *spec.strides[-2:]),
        spec.offset,
    )


def _swapped(spec: TensorSpec) -> TensorSpec:
    """Return each matrix transposed."""
    *lead, rows, columns = range(spec.ndim)
    axes = (*lead, columns, rows)
    return TensorSpec(
        spec.dtype, tuple(spec.shape[axis] for axis in axes), tuple(spec.strides[axis] for axis in axes), spec.offset
    )
