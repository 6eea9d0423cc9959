"""The plans of CrossEntropy's cases, by layout of the cell: the operands' layouts, and the purpose of each case."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ep_primitives.cases.arrangement import MANY, Form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_primitives.cases.case import Profile

__all__ = ["PLANS", "Plan"]

_X: Final = (5, 11, 3, 7)
_DEEP: Final = (2, 3, 1, 3, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 2)
_NARROW: Final = ("float16", "bfloat16")
_REDUCTIONS: Final = ("none", "sum", "mean")


@dataclass(frozen=True)
class Plan:
    """One case for any floating element type and any of labels.

    x           : where it lies
    has_weights : True if weights are there
    forms       : layouts of other operands that are not dense
    contents    : names in SCORES and LABELS of the contents of x and of labels
    exact       : True if the contents fix every bit
    dtypes      : the floating element types that have the case; none named are all
    """

    name: str
    x: Form
    reduction: str = "none"
    has_weights: bool = False
    ignore_index: int | None = None
    is_log: bool = False
    forms: Mapping[str, Form] = field(default_factory=dict)
    contents: tuple[str, str] = ("random", "random")
    exact: bool = False
    profile: Profile = "quick"
    shift: int = 0
    dtypes: tuple[str, ...] = ()


def _plain(name: str, reduction: str = "none", shape: tuple[int, ...] = _X, **more: Any) -> Plan:
    return Plan(name, Form(shape), reduction, **more)


def _dense() -> Iterator[Plan]:
    for reduction in _REDUCTIONS:
        yield _plain(reduction, reduction)
        yield _plain(f"{reduction}-weights", reduction, has_weights=True)
        yield _plain(f"{reduction}-logarithms", reduction, is_log=True)
        for number in (-1, 4):
            name = f"{reduction}-ignore{number:+}"
            yield _plain(name, reduction, ignore_index=number, has_weights=number > 0, contents=("special", "ignored"))
        yield _plain(f"{reduction}-no-class", reduction, has_weights=True, contents=("random", "mixed"))
        yield _plain(f"{reduction}-no-class-unweighted", reduction, contents=("random", "mixed"))
        yield _plain(
            f"{reduction}-logarithms-ignore", reduction, is_log=True, ignore_index=2, contents=("special", "ignored")
        )
        for has_weights in (False, True):
            name = f"{reduction}-exact{'-weights' if has_weights else ''}"
            yield _plain(
                name,
                reduction,
                (32, 6),
                is_log=True,
                has_weights=has_weights,
                contents=("integers", "even"),
                exact=True,
            )
    yield _plain("all-ignored", "mean", (9, 3), ignore_index=1, contents=("random", "one"))
    yield _plain("ignore-far", "mean", ignore_index=2**40)
    for shape in ((9, 1), (3, 2), (37, 131), (2, 4099), (1, 5, 33)):
        yield _plain("x".join(map(str, shape)), "none", shape, has_weights=True)
    yield _plain("rank-16", "none", _DEEP)
    yield _plain("rank-16-mean", "mean", _DEEP, has_weights=True)
    yield _plain("large", "none", contents=("large", "random"))
    yield _plain("same-sign", "sum", (16411, 3), is_log=True, contents=("same-sign", "random"))
    yield _plain("same-sign-mean", "mean", (16411, 3), has_weights=True, contents=("same-sign", "random"))
    yield _plain("512x1000", "mean", (512, 1000), profile="standard")
    yield _plain("2x21x128x128", "mean", (2, 21, 128, 128), has_weights=True, profile="standard")


def _strided() -> Iterator[Plan]:
    inside = Form(_X, (231, 1, 77, 11))
    for reduction in _REDUCTIONS:
        yield Plan(f"classes-inside-{reduction}", inside, reduction)
    yield Plan("logarithms-inside", inside, is_log=True)
    yield Plan(
        "padded",
        Form(_X, (400, 33, 11, 1)),
        forms={"labels": Form((5, 3, 7), (40, 10, 1)), "out": Form((5, 3, 7), (50, 9, 1))},
    )
    yield Plan(
        "negative", Form(_X, (-231, -21, -7, -1), 1154), is_log=True, forms={"labels": Form((5, 3, 7), (21, 7, -1), 6)}
    )
    yield Plan("stride-0", Form(_X, (0, 21, 7, 1)), has_weights=True, forms={"labels": Form((5, 3, 7), (1, 0, 5))})
    yield Plan("turned-out", Form(_X), forms={"out": Form((5, 3, 7), (1, 35, 5))})
    yield Plan("weights-apart", Form(_X), "mean", has_weights=True, forms={"weights": Form((11,), (-2,), 20)})
    yield Plan("far", Form((2, 5), (MANY, 1)), is_log=True, profile="large", dtypes=_NARROW)


def _offset() -> Iterator[Plan]:
    odd = {"labels": Form((5, 3, 7), None, 3), "weights": Form((11,), None, 5), "out": Form((5, 3, 7), None, 7)}
    yield Plan("odd", Form(_X, None, 1), has_weights=True, forms=odd)
    yield Plan("odd-mean", Form(_X, None, 1), "mean", forms={"out": Form((), None, 3)})
    yield Plan("shifted", Form(_X), shift=8)


def _empty() -> Iterator[Plan]:
    for reduction in _REDUCTIONS:
        yield _plain(f"no-samples-{reduction}", reduction, (0, 5))
    yield _plain("no-places", "mean", (3, 5, 0), has_weights=True)
    for reduction in ("none", "sum"):
        yield _plain(f"no-classes-{reduction}", reduction, (3, 0), contents=("random", "mixed"))


PLANS: Final[Mapping[str, Callable[[], Iterator[Plan]]]] = {
    "dense": _dense,
    "strided": _strided,
    "offset": _offset,
    "empty": _empty,
}
"""For each layout the function that makes its plans; the first plan is the typical one."""
