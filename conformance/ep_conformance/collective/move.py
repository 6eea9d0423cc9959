"""Cases of the collectives that move elements: each at each size, in place and not, from each root, of each width."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep_collectives import AllGather, AllToAll, Broadcast, Gather, Recv, Scatter, Send
from ep_collectives.reference import results

from ep import TensorSpec
from ep_conformance.collective.ranks import CollectiveCase, Ranks, same_bits
from ep_conformance.collective.reduction import counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import ep
    from ep_conformance.collective.ranks import Array
    from ep_conformance.fixture.trial import Trial

    Parts = Sequence[ep.Collective]

__all__ = ["moves"]

_WIDTHS: Final = ("uint8", "float16", "float32", "int64", "complex128")


def moves() -> Iterator[CollectiveCase]:
    """Yield a case for each collective that moves elements and each width of elements."""
    for name, parts in _PARTS.items():
        for dtype in _WIDTHS:
            claim = f"{name} of {dtype} moves every bit, whatever the size, and leaves all else as it was"
            yield CollectiveCase(f"{name}/-/{dtype}", functools.partial(_moved, parts=parts, dtype=dtype), claim)
    for dtype in _WIDTHS:
        claim = f"in a group each rank sends {dtype} to the next and receives from the one before"
        yield CollectiveCase(f"send/-/{dtype}", functools.partial(_passed_on, dtype=dtype), claim, least_ranks=2)


def _moved(trial: Trial, *, size: int, parts: Callable[..., Iterator[Parts]], dtype: str) -> None:
    ranks = Ranks(trial, size)
    for count in counts(trial, is_usual=dtype == "float32", parts=size):
        for collectives in parts(size, count, dtype):
            given = [
                {name: _noise(trial, spec.size, dtype) for name, spec in zip(each.operands, each.specs, strict=True)}
                for each in collectives
            ]
            needed = results(collectives, given)
            found = ranks.run(collectives, given)
            for number, contents in found.items():
                for name, array in (given[number] | needed[number]).items():
                    same_bits(f"rank {number} of {collectives[number]!r}: {name}", contents[name], array)


def _passed_on(trial: Trial, *, size: int, dtype: str) -> None:
    ranks = Ranks(trial, size)
    for count in counts(trial, is_usual=dtype == "float32"):
        spec = TensorSpec(dtype, (count,))
        arrays = [(_noise(trial, count, dtype), _noise(trial, count, dtype)) for _ in range(size)]
        tensors = {
            rank.number: ranks.tensors(rank, dict(zip(("x", "out"), arrays[rank.number], strict=True)))
            for rank in ranks
        }

        def exchange(rank: Any, spec: TensorSpec = spec, tensors: Any = tensors) -> None:
            mine, number = tensors[rank.number], rank.number
            with rank.communicator.group():
                rank.launch(Send(x=spec, to=(number + 1) % size), x=mine["x"])
                rank.launch(Recv(out=spec, source=(number - 1) % size), out=mine["out"])

        ranks.each(exchange)
        for number, mine in tensors.items():
            what = f"rank {number} of a ring of {count} {dtype}"
            same_bits(f"{what}: out", mine["out"].read(), arrays[number - 1][0])
            same_bits(f"{what}: x", mine["x"].read(), arrays[number][0])


def _all_gather(size: int, count: int, dtype: str) -> Iterator[Parts]:
    part, whole = TensorSpec(dtype, (count,)), TensorSpec(dtype, (size * count,))
    yield [AllGather(x=part, out=whole)] * size
    yield [AllGather(out=whole)] * size


def _broadcast(size: int, count: int, dtype: str) -> Iterator[Parts]:
    for root in {0, size - 1}:
        yield [Broadcast(x=TensorSpec(dtype, (count,)), root=root)] * size


def _gather(size: int, count: int, dtype: str) -> Iterator[Parts]:
    part, whole = TensorSpec(dtype, (count,)), TensorSpec(dtype, (size * count,))
    for root in {0, size - 1}:
        yield [Gather(x=part, ranks=size, root=root, out=whole if rank == root else None) for rank in range(size)]


def _scatter(size: int, count: int, dtype: str) -> Iterator[Parts]:
    part, whole = TensorSpec(dtype, (count,)), TensorSpec(dtype, (size * count,))
    for root in {0, size - 1}:
        yield [Scatter(out=part, ranks=size, root=root, x=whole if rank == root else None) for rank in range(size)]


def _all_to_all(size: int, count: int, dtype: str) -> Iterator[Parts]:
    whole = TensorSpec(dtype, (size * count,))
    yield [AllToAll(x=whole, out=whole)] * size


def _counted(size: int, count: int, dtype: str) -> Iterator[Parts]:
    sends = [[count * ((rank + 2 * other) % 3) for other in range(size)] for rank in range(size)]
    receives = [list(column) for column in zip(*sends, strict=True)]
    yield [
        AllToAll(
            x=TensorSpec(dtype, (sum(sent),)),
            out=TensorSpec(dtype, (sum(received),)),
            sends=sent,
            receives=received,
        )
        for sent, received in zip(sends, receives, strict=True)
    ]


_PARTS: Final[dict[str, Callable[..., Iterator[Parts]]]] = {
    "all_gather": _all_gather,
    "broadcast": _broadcast,
    "rooted_gather": _gather,
    "rooted_scatter": _scatter,
    "all_to_all": _all_to_all,
    "all_to_all_counted": _counted,
}


def _noise(trial: Trial, count: int, dtype: str) -> Array:
    """Return elements of any bits."""
    return trial.noise(count * np.dtype(dtype).itemsize).view(dtype)
