"""The plans of BatchNorm's cases, by layout of the cell: the operands' layouts, and the purpose of each case."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ep_primitives.cases.arrangement import MANY, Form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_primitives.cases.case import Profile

__all__ = ["PLANS", "Plan"]

_X: Final = (3, 12, 5, 7)
_DEEP: Final = (2, 3, 1, 3, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 2)
_NARROW: Final = ("float16", "bfloat16")


@dataclass(frozen=True)
class Plan:
    """One case for any floating element type.

    x        : where it lies
    absent   : names of operands, of scale and bias, that are missing
    forms    : layouts of other operands that are not dense
    contents : a name in CONTENTS
    exact    : True if the contents fix every bit
    inplace  : True if y lies where x does
    dtypes   : the element types that have the case; none named are all
    """

    name: str
    x: Form
    axis: int = 1
    absent: tuple[str, ...] = ()
    forms: Mapping[str, Form] = field(default_factory=dict)
    contents: str = "random"
    epsilon: float = 1e-5
    exact: bool = False
    inplace: bool = False
    profile: Profile = "quick"
    shift: int = 0
    dtypes: tuple[str, ...] = ()


def _plain(name: str, shape: tuple[int, ...] = _X, axis: int = 1, **more: Any) -> Plan:
    return Plan(name, Form(shape), axis, **more)


def _dense() -> Iterator[Plan]:
    yield _plain("channels")
    for absent in (("scale",), ("bias",), ("scale", "bias")):
        yield _plain("-".join(f"no-{each}" for each in absent), absent=absent)
    for shape, axis in (
        ((5, 6), 1),
        ((37,), 0),
        ((2, 9, 131), 1),
        ((3, 5, 17), 2),
        ((12, 35), 0),
        ((1, 1, 33), 1),
        ((9, 1025, 1), -2),
    ):
        yield _plain(f"{'x'.join(map(str, shape))}-axis{axis}", shape, axis)
    yield _plain("2x64x56x56", (2, 64, 56, 56), profile="standard")
    yield _plain("2x56x56x64-axis3", (2, 56, 56, 64), 3, profile="standard")
    yield _plain("rank-16", _DEEP)
    yield _plain("rank-16-last", _DEEP, -1)
    yield _plain("far", contents="far")
    yield _plain("small", contents="small")
    yield _plain("epsilon-3", contents="small", epsilon=3.0)
    yield _plain("not-finite", contents="not-finite")
    for shape, axis in (((5, 12, 8), 1), ((40, 12), 1)):
        size = "x".join(map(str, shape))
        yield _plain(f"exact-{size}", shape, axis, contents="halves", epsilon=3.0, exact=True)
        yield _plain(f"special-{size}", shape, axis, contents="special", epsilon=3.0, exact=True)


def _strided() -> Iterator[Plan]:
    inside = (5 * 7 * 12, 1, 7 * 12, 12)
    yield Plan("channels-inside", Form(_X, inside), forms={"y": Form(_X, inside)})
    yield Plan("channels-inside-y", Form(_X), forms={"y": Form(_X, inside)})
    yield Plan("padded-rows", Form(_X, (600, 50, 10, 1)), forms={"y": Form(_X, (700, 55, 11, 1))})
    yield Plan("negative", Form(_X, (-420, -35, -7, -1), 1259), forms={"y": Form(_X, (420, 35, 7, -1), 6)})
    yield Plan("stride-0", Form(_X, (0, 35, 7, 1)))
    columns = {
        "scale": Form((12,), (-2,), 22),
        "bias": Form((12,), (0,)),
        "mean": Form((12,), (3,)),
        "variance": Form((12,), (2,)),
    }
    yield Plan("parameters-apart", Form(_X), forms=columns)
    yield Plan("far", Form((2, 4, 5), (MANY, 5, 1)), profile="large", dtypes=_NARROW)


def _inplace() -> Iterator[Plan]:
    yield _plain("x", inplace=True)
    yield _plain("x-alone", inplace=True, absent=("scale", "bias"))
    yield Plan("x-channels-inside", Form(_X, (420, 1, 84, 12)), inplace=True)


def _offset() -> Iterator[Plan]:
    names = ("mean", "variance", "scale", "bias")
    odd = {name: Form((12,), None, 2 * place + 1) for place, name in enumerate(names)}
    yield Plan("odd", Form(_X, None, 1), forms={**odd, "y": Form(_X, None, 7)})
    yield Plan("shifted", Form(_X), shift=3)


def _empty() -> Iterator[Plan]:
    yield _plain("no-samples", (0, 12, 5))
    yield _plain("no-channels", (3, 0, 5))
    yield _plain("channels-of-none", (3, 12, 0))


PLANS: Final[Mapping[str, Callable[[], Iterator[Plan]]]] = {
    "dense": _dense,
    "strided": _strided,
    "inplace": _inplace,
    "offset": _offset,
    "empty": _empty,
}
"""For each layout the function that makes its plans; the first plan is the typical one."""
