"""What collectives give, by NumPy: for tests, and for the suite that judges carriers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ep_collectives.descriptors.exchange import AllToAll
from ep_collectives.descriptors.reducing import AllReduce, Reduce, ReduceScatter
from ep_collectives.descriptors.rooted import Gather, Scatter
from ep_collectives.descriptors.spreading import AllGather, Broadcast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import ep

__all__ = ["results"]

_HALVES: Final = {"float16", "bfloat16"}


def results(collectives: Sequence[ep.Collective], given: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return for each rank the operands that its part writes, by name, flat.

    collectives : each rank's part, in the order of the ranks
    given       : for each rank the arrays of its operands before, by name

    Sums are those of the ranks' order, rounded once each; a mean is such a sum divided; 16-bit types are computed in
    float32 and rounded once at the end.
    """
    size, first = len(collectives), collectives[0]
    flat = [{name: np.asarray(array).reshape(-1) for name, array in arrays.items()} for arrays in given]
    match first:
        case AllReduce() | Reduce() | ReduceScatter():
            whole = _reduced(first.op, first.specs[0].dtype, [arrays["x"] for arrays in flat])
            written = [
                {} if isinstance(each, Reduce) and "out" not in each.operands else {"out": whole}
                for each in collectives
            ]
            if isinstance(first, ReduceScatter):
                written = [
                    _scattered(each, flat[rank]["x"], part, rank)
                    for rank, (each, part) in enumerate(zip(collectives, np.split(whole, size), strict=True))
                ]
            return written
        case Broadcast():
            return [{"x": flat[first.root]["x"]} for _ in collectives]
        case AllGather():
            parts = [
                arrays["x"] if "x" in arrays else np.split(arrays["out"], size)[rank]
                for rank, arrays in enumerate(flat)
            ]
            return [{"out": np.concatenate(parts)} for _ in collectives]
        case Gather():
            whole = np.concatenate([arrays["x"] for arrays in flat])
            return [{"out": whole} if "out" in each.operands else {} for each in collectives]
        case Scatter():
            whole = next(arrays["x"] for arrays in flat if "x" in arrays)
            return [{"out": part} for part in np.split(whole, size)]
        case AllToAll():
            return _exchanged(collectives, flat)
    message = f"results: {first.family} has no reference"
    raise NotImplementedError(message)


def _reduced(op: str, dtype: str, terms: list[Any]) -> Any:
    wide = [term.astype(np.float32) if dtype in _HALVES else term for term in terms]
    combine: Any = {"prod": np.multiply, "max": np.maximum, "min": np.minimum}.get(op, np.add)
    total = wide[0]
    with np.errstate(all="ignore"):
        for term in wide[1:]:
            total = combine(total, term)
        if op == "mean":
            total = total / total.dtype.type(len(terms))
    return total.astype(terms[0].dtype)


def _scattered(collective: ep.Collective, x: Any, part: Any, rank: int) -> dict[str, Any]:
    if "out" in collective.operands:
        return {"out": part}
    kept = x.copy()
    kept[rank * part.size : (rank + 1) * part.size] = part
    return {"x": kept}


def _exchanged(collectives: Any, flat: list[dict[str, Any]]) -> list[dict[str, Any]]:
    size = len(collectives)
    empty = next((arrays[name][:0] for arrays in flat for name in arrays), np.empty(0))
    parts = [
        np.split(arrays.get("x", empty), np.cumsum(each.counts(size)[0])[:-1])
        for each, arrays in zip(collectives, flat, strict=True)
    ]
    return [
        {"out": np.concatenate([parts[other][rank] for other in range(size)])} if each.has_out else {}
        for rank, each in enumerate(collectives)
    ]
