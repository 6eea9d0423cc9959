"""The lowering of LstmCell: a product with the recurrent weights, and the gates' operations, in one temporary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep import Stage, TensorSpec
from ep_primitives.families.broadcast_binary.descriptor import BroadcastBinary
from ep_primitives.families.cast.descriptor import Cast
from ep_primitives.families.elementwise_unary.descriptor import ElementwiseUnary
from ep_primitives.families.matmul.descriptor import Matmul

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_primitives.families.recurrent_cell.lstm_cell import LstmCell

__all__ = ["stages"]


def stages(cell: LstmCell) -> Iterator[Stage]:
    """Yield the stages. Gates of one activation lie side by side, so that one stage applies it; of 16-bit types all is float32."""
    wide, is_wide = cell.compute, cell.gates.dtype == cell.compute
    sums = TensorSpec(wide, cell.gates.shape)
    i, o, f, g = (cell.columns(sums, place) for place in range(4))
    given, bias, c, memory = cell.gates, "gates", cell.c, "c"
    c_next, kept = cell.outputs["c_next"], "c_next"
    if not is_wide:
        given, bias = sums, "wide gates"
        c, memory = c_next, kept = TensorSpec(wide, c.shape), "wide c"
        yield Stage(Cast(x=cell.gates, out=given), x="gates", out=bias)
        yield Stage(Cast(x=cell.c, out=c), x="c", out=memory)
    product = Matmul(a=cell.h, b=cell.factors(0, 4), bias=given, out=sums)
    yield Stage(product, a="h", b="r", bias=bias, out="sums")
    peephole, seen = cell.peephole, "peephole"
    if peephole is None:
        yield _activated(cell.gate_activation, cell.columns(sums, 0, 3))
    else:
        if not is_wide:
            narrow, peephole, seen = peephole, TensorSpec(wide, peephole.shape), "wide peephole"
            yield Stage(Cast(x=narrow, out=peephole), x="peephole", out=seen)
        row = _over(peephole)
        both = _beside(i, f)
        yield from _peeped(both, _beside(cell.columns(row, 0), cell.columns(row, 2)), seen, c, memory)
        yield _activated(cell.gate_activation, both)
    yield _activated(cell.candidate_activation, g)
    yield Stage(BroadcastBinary("mul", a=i, b=g, out=i), a="sums", b="sums", out="sums")
    yield Stage(BroadcastBinary("mul", a=c, b=f, out=c_next), a=memory, b="sums", out=kept)
    yield Stage(BroadcastBinary("add", a=c_next, b=i, out=c_next), a=kept, b="sums", out=kept)
    if peephole is not None:
        yield from _peeped(o, cell.columns(_over(peephole), 1), seen, c_next, kept)
        yield _activated(cell.gate_activation, o)
    yield Stage(ElementwiseUnary(cell.output_activation, x=c_next, out=g), x=kept, out="sums")
    if is_wide:
        yield Stage(BroadcastBinary("mul", a=o, b=g, out=cell.out), a="sums", b="sums", out="h_next")
        return
    yield Stage(BroadcastBinary("mul", a=g, b=o, out=g), a="sums", b="sums", out="sums")
    yield Stage(Cast(x=g, out=cell.out), x="sums", out="h_next")
    yield Stage(Cast(x=c_next, out=cell.outputs["c_next"]), x=kept, out="c_next")


def _peeped(gates: TensorSpec, factors: TensorSpec, its: str, c: TensorSpec, memory: str) -> Iterator[Stage]:
    """Yield the stages that add the cell state times its peephole factors to gates."""
    part = TensorSpec(gates.dtype, gates.shape)
    yield Stage(BroadcastBinary("mul", a=factors, b=c, out=part), a=its, b=memory, out="part")
    yield Stage(BroadcastBinary("add", a=gates, b=part, out=gates), a="sums", b="part", out="sums")


def _activated(op: str, spec: TensorSpec) -> Stage:
    return Stage(ElementwiseUnary(op, x=spec, out=spec), x="sums", out="sums")


def _over(spec: TensorSpec) -> TensorSpec:
    """Return a vector as the one row of a matrix."""
    return TensorSpec(spec.dtype, (1, *spec.shape), (0, *spec.strides), spec.offset)


def _beside(one: TensorSpec, other: TensorSpec) -> TensorSpec:
    """Return two parts of a tensor, which differ in where they begin, as one, along a new first dimension."""
    step = other.offset - one.offset
    return TensorSpec(one.dtype, (2, *one.shape), (step, *one.strides), one.offset)
