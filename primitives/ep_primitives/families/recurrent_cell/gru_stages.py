"""The lowering of GruCell: products with the recurrent weights, and the gates' operations, in one temporary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep import Stage, TensorSpec
from ep_primitives.families.broadcast_binary.descriptor import BroadcastBinary
from ep_primitives.families.cast.descriptor import Cast
from ep_primitives.families.elementwise_unary.descriptor import ElementwiseUnary
from ep_primitives.families.matmul.descriptor import Matmul

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_primitives.families.recurrent_cell.gru_cell import GruCell

__all__ = ["stages"]


def stages(cell: GruCell) -> Iterator[Stage]:
    """Yield the stages; of 16-bit types all but the first product's factors is float32."""
    wide, is_wide = cell.compute, cell.gates.dtype == cell.compute
    sums = TensorSpec(wide, cell.gates.shape)
    z, n = cell.columns(sums, 0), cell.columns(sums, 2)
    given, gates, h, state = cell.gates, "gates", cell.h, "h"
    if not is_wide:
        given, gates, h, state = sums, "wide gates", TensorSpec(wide, cell.h.shape), "wide h"
        yield Stage(Cast(x=cell.gates, out=given), x="gates", out=gates)
        yield Stage(Cast(x=cell.h, out=h), x="h", out=state)
    made = _reset_behind if cell.linear_before_reset else _reset_before
    yield from made(cell, sums, (given, gates), (h, state))
    yield Stage(ElementwiseUnary(cell.candidate_activation, x=n, out=n), x="sums", out="sums")
    part = TensorSpec(wide, h.shape)
    yield Stage(BroadcastBinary("sub", a=h, b=n, out=part), a=state, b="sums", out="part")
    yield Stage(BroadcastBinary("mul", a=part, b=z, out=part), a="part", b="sums", out="part")
    if is_wide:
        yield Stage(BroadcastBinary("add", a=part, b=n, out=cell.out), a="part", b="sums", out="h_next")
        return
    yield Stage(BroadcastBinary("add", a=part, b=n, out=part), a="part", b="sums", out="part")
    yield Stage(Cast(x=part, out=cell.out), x="part", out="h_next")


_Named = tuple[TensorSpec, str]


def _reset_behind(cell: GruCell, sums: TensorSpec, gates: _Named, h: _Named) -> Iterator[Stage]:
    """Yield one product for all gates, and the candidate's part times the reset."""
    del h
    (given, name), bias, term = gates, cell.bias, "bias"
    if bias is not None and bias.dtype != sums.dtype:
        narrow, bias, term = bias, TensorSpec(sums.dtype, bias.shape), "wide bias"
        yield Stage(Cast(x=narrow, out=bias), x="bias", out=term)
    moved = {} if bias is None else {"bias": term}
    yield Stage(Matmul(a=cell.h, b=cell.factors(0, 3), bias=bias, out=sums), a="h", b="r", out="sums", **moved)
    both, n = cell.columns(sums, 0, 2), cell.columns(sums, 2)
    added = BroadcastBinary("add", a=both, b=cell.columns(given, 0, 2), out=both)
    yield Stage(added, a="sums", b=name, out="sums")
    yield Stage(ElementwiseUnary(cell.gate_activation, x=both, out=both), x="sums", out="sums")
    left = BroadcastBinary("mul", a=n, b=cell.columns(sums, 1), out=n)
    yield Stage(left, a="sums", b="sums", out="sums")
    yield Stage(BroadcastBinary("add", a=n, b=cell.columns(given, 2), out=n), a="sums", b=name, out="sums")


def _reset_before(cell: GruCell, sums: TensorSpec, gates: _Named, h: _Named) -> Iterator[Stage]:
    """Yield the gates' product, h times the reset, and its product with the candidate's weights."""
    (given, name), (state, its) = gates, h
    both, n = cell.columns(sums, 0, 2), cell.columns(sums, 2)
    product = Matmul(a=cell.h, b=cell.factors(0, 2), bias=cell.columns(given, 0, 2), out=both)
    yield Stage(product, a="h", b="r", bias=name, out="sums")
    yield Stage(ElementwiseUnary(cell.gate_activation, x=both, out=both), x="sums", out="sums")
    part = TensorSpec(sums.dtype, state.shape)
    yield Stage(BroadcastBinary("mul", a=state, b=cell.columns(sums, 1), out=part), a=its, b="sums", out="part")
    factor, weights = cell.factors(2, 1), "r"
    if factor.dtype != sums.dtype:
        narrow, factor, weights = factor, TensorSpec(sums.dtype, factor.shape), "wide r"
        yield Stage(Cast(x=narrow, out=factor), x="r", out=weights)
    product = Matmul(a=part, b=factor, bias=cell.columns(given, 2), out=n)
    yield Stage(product, a="part", b=weights, bias=name, out="sums")
