"""A Turn is one launch of a case: which data, by which way, on which stream, in which memories."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_primitives.situations.manner import Manner

    from ep_conformance.judge.draw import Draw

__all__ = ["Turn", "turns", "warm_up"]

_SHARE: Final = 3
"""One case in three begins with the bound step, and, independently, one launch in three is on an asynchronous stream."""

_MOST_TWICE: Final = 4 << 20
"""Cases with more bytes than these are launched once."""


@dataclass(frozen=True)
class Turn:
    """One launch.

    way     : "checked", or one that `ep_primitives.situations.Manner` names
    stream  : as there
    memory  : as there
    """

    drawn: Draw
    way: str = "checked"
    stream: str = "usual"
    memory: str = "apart"


def turns(identity: str, drawn: Draw, manner: Manner | None = None) -> tuple[Turn, ...]:
    """Return a checked launch and another, which comes first in every other case; of a large case one of them alone.

    manner : of the other launch; None: a bound step, in an order and on streams that the case's id decides

    The second one's outputs hold the other poison.
    """
    planned = _by_id(identity, drawn) if manner is None else (Turn(drawn, *manner), Turn(drawn))
    if sum(operand.image.nbytes for operand in drawn.tensors.values()) > _MOST_TWICE:
        return planned[:1]
    first, second = planned if manner is None or zlib.crc32(identity.encode()) % 2 else planned[::-1]
    return first, replace(second, drawn=drawn.poisoned_low())


def _by_id(identity: str, drawn: Draw) -> tuple[Turn, Turn]:
    dice = zlib.crc32(identity.encode())
    ways = ("bound", "checked") if dice % _SHARE == 0 else ("checked", "bound")
    streams = ["asynchronous" if dice // _SHARE**power % _SHARE == 0 else "usual" for power in (1, 2)]
    first, second = (Turn(drawn, way, stream) for way, stream in zip(ways, streams, strict=True))
    return first, second


def warm_up(identity: str, planned: Sequence[Turn]) -> Turn | None:
    """Return a turn with other values for one case of three, large ones apart: kernels that keep old values show."""
    if len(planned) > 1 and zlib.crc32(identity.encode()) // _SHARE**3 % _SHARE == _SHARE - 1:
        return replace(planned[-1], drawn=planned[0].drawn.reversed())
    return None
