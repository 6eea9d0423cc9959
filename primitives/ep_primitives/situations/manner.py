"""A Manner is how a case is launched, beside its data: by which way, on which stream, in which memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ep_primitives.situations.model import Dimension

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_primitives.situations.model import Situation

__all__ = ["MANNERS", "Manner", "manner_of", "manner_read", "start_bytes", "starts"]

WAY: Final = Dimension("way", ("bound", "captured", "moved", "often"))
STREAM: Final = Dimension("stream", ("usual", "asynchronous", "first", "last"))
MEMORY: Final = Dimension("memory", ("apart", "one"))

MANNERS: Final = (WAY, STREAM, MEMORY)

_STARTS: Final = ("0", "1", "8B", "16B", "32B")


class Manner(NamedTuple):
    """How the second launch of a case differs from its first one, a checked launch.

    way     : bound: by a step; captured: by a graph; moved: by a graph, in other memories than it was captured with; often:
              by a step that ran many times before
    stream  : of the second launch: the device's default, an asynchronous one, or one whose priority is highest or lowest
    memory  : apart: each operand has its own; one: all lie in one
    """

    way: str = "bound"
    stream: str = "usual"
    memory: str = "apart"


def manner_of(situation: Situation) -> Manner:
    """Return the manner that a situation asks for."""
    return Manner(*(situation.get(each.name, each.values[0]) for each in MANNERS))


def manner_read(words: Sequence[str]) -> Manner:
    """Return the manner of these words. Raises ValueError for any other."""
    if len(words) != len(MANNERS) or any(word not in each.values for word, each in zip(words, MANNERS, strict=True)):
        message = f"the manner {[*words]!r} is not of {', '.join(each.name for each in MANNERS)}"
        raise ValueError(message)
    return Manner(*words)


def starts(*operands: str, is_dangerous: bool = False) -> tuple[Dimension, ...]:
    """Return a dimension for each operand: where its memory begins, in elements, or in bytes (B), after an aligned place."""
    return tuple(Dimension(f"start-{name}", _STARTS, is_dangerous=is_dangerous) for name in operands)


def start_bytes(word: str, itemsize: int) -> int:
    """Return the bytes that a memory of elements of this size begins after an aligned place."""
    return max(int(word[:-1]), itemsize) if word.endswith("B") else int(word) * itemsize
