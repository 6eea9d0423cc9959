"""How the operands of Scan's cases lie, by layout of the cell, and which way they are scanned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ep_primitives.cases.along import DEEP, LAID_OUT, Plan, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["LAYOUTS", "Way", "ways"]

# Around the pieces that work-items and threads take, and where pieces of pieces begin.
_EXTENTS: Final = (1, 2, 3, 31, 64, 65, 129, 257, 1024, 1025, 4097, 16411)
_ALONG: Final[tuple[tuple[tuple[int, ...], int], ...]] = (
    ((33, 17), 0),
    ((4, 19, 35), 1),
    ((515, 67), 0),
    ((2, 3, 4, 5), -3),
)

LAYOUTS: Final = ("dense", *LAID_OUT)


class Way(NamedTuple):
    """A plan, and how it is scanned; `is_usual` if every op and element type has the case."""

    plan: Plan
    exclusive: bool
    reverse: bool
    is_usual: bool


def ways(layout: str) -> Iterator[Way]:
    """Yield the plans of a layout; strides, places and extents with the four ways in turn."""
    if layout == "dense":
        yield Way(plain("rows", (13, 67), 1), exclusive=False, reverse=False, is_usual=True)
        yield Way(plain("exclusive", (13, 67), 1), exclusive=True, reverse=False, is_usual=True)
        yield Way(plain("reverse", (13, 67), 1), exclusive=False, reverse=True, is_usual=True)
        yield Way(plain("exclusive-reverse", (13, 67), 1), exclusive=True, reverse=True, is_usual=True)
    for place, plan in enumerate(_dense() if layout == "dense" else LAID_OUT[layout](1)):
        is_usual = not place and layout != "dense"
        yield Way(plan, exclusive=place % 2 == 1, reverse=place // 2 % 2 == 1, is_usual=is_usual)


def _dense() -> Iterator[Plan]:
    for extent in _EXTENTS:
        yield plain(f"3x{extent}", (3, extent), 1)
        yield plain(f"2x{extent}", (2, extent), 1)
    yield plain("1x70001", (1, 70001), 1, profile="standard")
    yield plain("2x1000003", (2, 1000003), 1, profile="standard")
    yield plain("7001x5", (7001, 5), 1)
    for shape, axis in _ALONG:
        yield plain(f"{'x'.join(map(str, shape))}-axis{axis}", shape, 1, axis)
    for axis in (0, 9, -1):
        yield plain(f"rank-16-axis{axis}", DEEP, 1, axis)
