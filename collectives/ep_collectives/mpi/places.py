"""Places are the bytes of a rank's operands that a collective over MPI reads and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_collectives.carrier.host import host_view

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import ep
    from ep_collectives.carrier.room import Run

__all__ = ["INLINE", "Places", "Span", "Spot", "bytes_of", "cut"]

INLINE: Final = 16 << 10
"""Bytes that are moved with a letter, and make no message of their own. Of what is reduced: see `Little`."""


class Span(NamedTuple):
    """Elements of an operand of this rank."""

    name: str
    begin: int
    length: int


class Spot(NamedTuple):
    """A few bytes, which letters bring and take.

    view : of the host, None where it sees none of them
    """

    memory: ep.Memory
    view: Any

    @classmethod
    def of(cls, memory: ep.Memory) -> Spot:
        """Return the spot of a memory."""
        return cls(memory, host_view(memory) if memory.nbytes else memoryview(bytearray()))


class Places(NamedTuple):
    """What letters bring and take in one collective; a step makes it once, any other launch anew.

    sends    : by rank, what goes with the letter to it
    receives : by rank, where goes what comes with its letter
    kept     : targets and sources that are copied at this rank
    kernels  : called in turn when all has come
    """

    sends: Mapping[int, Spot]
    receives: Mapping[int, Spot]
    kept: Sequence[tuple[ep.Memory, ep.Memory]] = ()
    kernels: Sequence[Run] = ()


def bytes_of(collective: ep.Collective, memories: Sequence[ep.Memory], span: Span) -> ep.Memory:
    """Return the bytes of a span, also of a memory that was closed for the host meanwhile."""
    place = collective.operands.index(span.name)
    spec: Any = collective.specs[place]
    return memories[place]._part((spec.lo + span.begin) * spec.itemsize, span.length * spec.itemsize)


def cut(span: Span, step: int) -> Iterator[Span]:
    """Yield the pieces of a span."""
    end = span.begin + span.length
    for begin in range(span.begin, end, step):
        yield Span(span.name, begin, min(step, end - begin))
