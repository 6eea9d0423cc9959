"""Matmul: rows of a, columns of b and batches may be split; split inner extents give partial sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import Matmul

import ep
from ep_sharded.placement import LINEAR, Broadcast, Partial, Split
from ep_sharded.rules.rule import OUT, Rule, Signature, aligned, everywhere

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MATMUL"]


def _signatures(descriptor: Matmul, ranks: int) -> list[Signature]:
    del ranks
    if descriptor.bias is not None or descriptor.activation != "none":
        message = "matmul: no rule takes placements through a bias or an activation; launch them after it, as add of BroadcastBinary and as ElementwiseUnary"
        raise ep.UnsupportedError(message)
    a, b, out = descriptor.a, descriptor.b, descriptor.out
    if out.shape[:-2] != descriptor.batch:
        message = f"matmul: no rule takes placements through a sum over batches, which out {out.shape} asks for; launch it after the product, as Reduce"
        raise ep.UnsupportedError(message)
    whole: Signature = everywhere(["a", "b"])
    found: list[Signature] = [
        whole,
        {"a": Split(a.ndim - 2), "b": Broadcast(), OUT: Split(out.ndim - 2)},
        {"a": Broadcast(), "b": Split(b.ndim - 1), OUT: Split(out.ndim - 1)},
        {"a": Split(a.ndim - 1), "b": Split(b.ndim - 2), OUT: Partial("sum")},
    ]
    for axis, extent in enumerate(out.shape[:-2]):
        named = {"a": a, "b": b, OUT: out}
        found.append({name: aligned(spec, out.ndim, axis, extent) for name, spec in named.items()})
    if out.dtype == a.dtype:  # else sums of integers would have wrapped in the narrow type, and the product is wider
        found += [{**whole, name: Partial(op), OUT: Partial(op)} for name in ("a", "b") for op in LINEAR]
    return found


def _part(descriptor: Matmul, specs: Mapping[str, ep.TensorSpec]) -> ep.Descriptor:
    return Matmul(
        a=specs["a"],
        b=specs["b"],
        out=specs[OUT],
        conjugate_a=descriptor.conjugate_a,
        conjugate_b=descriptor.conjugate_b,
    )


MATMUL: Final = Rule(_signatures, _part, multiplies=lambda _: True, refused=("beta",))
