"""Reduce: a kept axis stays split; a reduced one that is split gives a partial tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import Reduce

from ep import TensorSpec
from ep_sharded.placement import LINEAR, Partial, Split
from ep_sharded.rules.rule import OUT, Rule, Signature, everywhere

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__ = ["REDUCE"]

_TERMS: Final = {
    "sum": "sum",
    "sum_of_squares": "sum",
    "prod": "prod",
    "max": "max",
    "min": "min",
    "any": "max",
    "all": "min",
    "mean": "mean",
}
"""By op, how the results of parts of a row make that of the row. A norm's and a log_sum_exp's do not, by an op of AllReduce."""


def _signatures(descriptor: Reduce, ranks: int) -> list[Signature]:
    x, out, axes = descriptor.specs[0], descriptor.out, descriptor.axes
    assert isinstance(x, TensorSpec)
    found, keeps = [everywhere(["x"])], out.ndim == x.ndim
    for axis in range(x.ndim):
        if axis not in axes:
            gone = 0 if keeps else sum(each < axis for each in axes)
            found.append({"x": Split(axis), OUT: Split(axis - gone)})
        elif descriptor.op in _TERMS and (descriptor.op != "mean" or not x.shape[axis] % ranks):
            found.append({"x": Split(axis), OUT: Partial(_TERMS[descriptor.op])})  # parts of a mean are equally long
    if descriptor.op in LINEAR and out.dtype == x.dtype:  # else integers wrap in x's type, and out is wider
        found += [everywhere(["x"], Partial(op)) for op in LINEAR]
    if descriptor.op in {"max", "min"}:
        found.append(everywhere(["x"], Partial(descriptor.op)))
    return found


def _part(descriptor: Reduce, specs: Mapping[str, ep.TensorSpec]) -> ep.Descriptor:
    return Reduce(descriptor.op, x=specs["x"], out=specs[OUT], axis=descriptor.axes)


REDUCE: Final = Rule(_signatures, _part)
