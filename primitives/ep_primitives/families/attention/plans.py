"""The plans of Attention's cases, by layout of the cell: the operands' layouts, and the purpose of each case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ep_primitives.cases.arrangement import MANY, Form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_primitives.cases.case import Profile

__all__ = ["PLANS", "Plan"]

_BATCH: Final = (2, 3)
_SIZES: Final = (33, 65, 17, 9)
"""Queries, keys, columns of q and k, columns of v."""

_DEEP: Final = (2, 1, 3, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 2)
_NARROW: Final = ("float16", "bfloat16")


@dataclass(frozen=True)
class Plan:
    """One case for any floating element type; with a mask, also for one of bools.

    contents : a name in CONTENTS
    exact    : True if the contents fix every bit
    dtypes   : the element types that have the case; none named are all
    """

    name: str
    q: Form
    k: Form
    v: Form
    out: Form
    mask: Form | None = None
    scale: float | None = None
    softcap: float = 0.0
    is_causal: bool = False
    offset: int = 0
    contents: str = "random"
    exact: bool = False
    profile: Profile = "quick"
    shift: int = 0
    dtypes: tuple[str, ...] = ()


def _plain(
    name: str,
    sizes: tuple[int, int, int, int] = _SIZES,
    batch: tuple[int, ...] = _BATCH,
    kept: tuple[int, ...] | None = None,
    **more: Any,
) -> Plan:
    """Return the plan of dense operands, of which those in `more` lie otherwise; kept : the batch of k and v."""
    queries, keys, depth, columns = sizes
    kept = batch if kept is None else kept
    forms = {
        "q": Form((*batch, queries, depth)),
        "k": Form((*kept, keys, depth)),
        "v": Form((*kept, keys, columns)),
        "out": Form((*batch, queries, columns)),
    }
    return Plan(name, **(forms | more))


def _dense() -> Iterator[Plan]:
    yield _plain("rows")
    yield _plain("mask", mask=Form((*_BATCH, 33, 65)))
    for sizes in ((1, 131, 16, 16), (5, 1, 3, 4), (9, 17, 1, 1), (2, 2003, 8, 5), (17, 70, 150, 300)):
        yield _plain("x".join(map(str, sizes)), sizes)
    yield _plain("130x515x64x64", (130, 515, 64, 64), profile="standard")
    yield _plain(
        "130x515x64x64-causal-mask", (130, 515, 64, 64), mask=Form((130, 515)), is_causal=True, profile="standard"
    )
    yield _plain("one-head", batch=())
    yield _plain("rank-16", (3, 5, 4, 3), _DEEP)
    for name, batch, kept in (
        ("grouped", (2, 6), (2, 2)),
        ("one-for-all", (2, 6), (2, 1)),
        ("grouped-rank-3", (6,), (3,)),
    ):
        yield _plain(name, batch=batch, kept=kept)
        yield _plain(f"{name}-mask", batch=batch, kept=kept, mask=Form((*batch, 33, 65)))
    yield _plain("grouped-rank-15", (3, 5, 4, 3), (*_DEEP[2:], 6), (*_DEEP[2:], 2))
    for scale in (0.25, -1.5):
        yield _plain(f"scale-{scale:g}", scale=scale)
    yield _plain("softcap", softcap=5.0)
    yield _plain("softcap-large", softcap=30.0, contents="large")
    for offset in (0, 32, -4, 70, -40):
        yield _plain(f"causal{offset:+}", is_causal=True, offset=offset)
    yield _plain("causal-more-queries", (65, 33, 17, 9), is_causal=True)
    for shape in ((33, 65), (2, 1, 1, 65), (3, 33, 1), (65,), ()):
        yield _plain(f"mask-{'x'.join(map(str, shape)) or 'rank-0'}", mask=Form(shape))
    yield _plain("mask-causal", mask=Form((3, 33, 65)), is_causal=True, offset=2)
    everything: dict[str, Any] = {"scale": 0.5, "softcap": 4.0, "is_causal": True, "offset": -3}
    yield _plain("everything", batch=(2, 6), kept=(2, 3), mask=Form((2, 1, 33, 65)), **everything)
    yield _plain("large", contents="large")
    yield _plain("same-sign", (3, 4111, 5, 4), contents="same-sign")
    for name, more in (
        ("chosen", {}),
        ("chosen-causal", {"is_causal": True, "offset": 1}),
        ("chosen-grouped", {"kept": (2, 1)}),
    ):
        yield _plain(name, (12, 16, 16, 7), scale=8.0, contents="chosen", exact=True, **more)
    for name in ("not-finite", "nan-keys"):
        yield _plain(name, (12, 16, 16, 7), scale=8.0, contents=name, exact=True)


def _strided() -> Iterator[Plan]:
    inside: dict[str, Any] = {
        "q": Form((2, 3, 33, 17), (33 * 51, 17, 51, 1)),
        "k": Form((2, 3, 65, 17), (65 * 51, 17, 51, 1)),
        "v": Form((2, 3, 65, 9), (65 * 27, 9, 27, 1)),
        "out": Form((2, 3, 33, 9), (33 * 27, 9, 27, 1)),
    }
    yield _plain("heads-inside", **inside)
    yield _plain("heads-inside-mask", mask=Form((2, 3, 33, 65), (65, 130, 400, 1)), **inside)
    grouped: dict[str, Any] = {
        "q": Form((2, 6, 33, 17), (33 * 102, 17, 102, 1)),
        "out": Form((2, 6, 33, 9), (33 * 54, 9, 54, 1)),
    }
    yield _plain("grouped-inside", batch=(2, 6), kept=(2, 3), **(inside | grouped))
    yield _plain("transposed", k=Form((2, 3, 65, 17), (3315, 1105, 1, 65)), v=Form((2, 3, 65, 9), (1755, 585, 1, 65)))
    yield _plain("transposed-out", out=Form((2, 3, 33, 9), (891, 297, 1, 33)))
    yield _plain("padded-rows", q=Form((2, 3, 33, 17), (2000, 660, 20, 1)), out=Form((2, 3, 33, 9), (1200, 400, 11, 1)))
    yield _plain(
        "negative",
        q=Form((2, 3, 33, 17), (-1683, 561, -17, 1), 1683 + 544),
        v=Form((2, 3, 65, 9), (1755, 585, -9, -1), 584),
    )
    yield _plain("negative-mask", mask=Form((33, 65), (-65, -1), 33 * 65 - 1))
    yield _plain("stride-0", k=Form((2, 3, 65, 17), (0, 0, 17, 1)), v=Form((2, 3, 65, 9), (0, 0, 9, 1)))
    yield _plain("stride-0-mask", mask=Form((2, 3, 33, 65), (0, 0, 0, 1)))
    yield _plain(
        "every-second", q=Form((2, 3, 33, 17), (3366, 1122, 34, 2)), v=Form((2, 3, 65, 9), (3510, 1170, 18, 2))
    )
    yield _plain("far-rows", (2, 3, 5, 4), (), q=Form((2, 5), (MANY, 1)), profile="large", dtypes=_NARROW)
    yield _plain(
        "far-rows-mask", (2, 3, 5, 4), (), q=Form((2, 5), (MANY, 1)), mask=Form((3,)), profile="large", dtypes=_NARROW
    )


def _offset() -> Iterator[Plan]:
    odd: dict[str, Any] = {
        name: Form((*_BATCH, rows, columns), None, 2 * place + 1)
        for place, (name, rows, columns) in enumerate((("q", 33, 17), ("k", 65, 17), ("v", 65, 9), ("out", 33, 9)))
    }
    yield _plain("odd", **odd)
    yield _plain("odd-mask", mask=Form((33, 65), None, 3), **odd)
    yield _plain("shifted", shift=3)
    yield _plain("shifted-mask", mask=Form((33, 65)), shift=3)


def _empty() -> Iterator[Plan]:
    for name, sizes in (
        ("no-keys", (5, 0, 3, 4)),
        ("no-queries", (0, 5, 3, 4)),
        ("no-depth", (5, 7, 0, 4)),
        ("no-columns", (5, 7, 3, 0)),
    ):
        yield _plain(name, sizes)
        yield _plain(f"{name}-mask", sizes, mask=Form(sizes[:2]))
    yield _plain("no-batch", (5, 7, 3, 4), (0, 3))
    yield _plain("no-heads", (5, 7, 3, 4), (2, 0))


PLANS: Final[Mapping[str, Callable[[], Iterator[Plan]]]] = {
    "dense": _dense,
    "strided": _strided,
    "offset": _offset,
    "empty": _empty,
}
"""For each layout the function that makes its plans; the first plan is the typical one."""
