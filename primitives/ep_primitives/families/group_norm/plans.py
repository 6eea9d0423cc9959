"""The plans of GroupNorm's cases, by layout of the cell: the operands' layouts, and the purpose of each case."""

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
    contents : names in layer_norm_data of what the groups, and scale and bias, hold
    exact    : True if the contents fix every bit
    inplace  : True if y lies where x does
    dtypes   : the element types that have the case; none named are all
    """

    name: str
    x: Form
    groups: int = 4
    absent: tuple[str, ...] = ()
    forms: Mapping[str, Form] = field(default_factory=dict)
    contents: tuple[str, str] = ("random", "usual")
    epsilon: float = 1e-5
    exact: bool = False
    inplace: bool = False
    profile: Profile = "quick"
    shift: int = 0
    dtypes: tuple[str, ...] = ()


def _plain(name: str, groups: int, shape: tuple[int, ...] = _X, **more: Any) -> Plan:
    return Plan(name, Form(shape), groups, **more)


def _dense() -> Iterator[Plan]:
    for name, groups in (("groups", 4), ("one", 1), ("each", 12)):
        yield _plain(name, groups)
        for absent in (("scale",), ("bias",), ("scale", "bias")):
            yield _plain("-".join((name, *(f"no-{each}" for each in absent))), groups, absent=absent)
    for groups, shape in (
        (2, (5, 6)),
        (6, (5, 6)),
        (1, (5, 6)),
        (3, (2, 9, 131)),
        (2, (1, 4, 1, 1, 33)),
        (1, (1, 1, 1)),
    ):
        yield _plain(f"{groups}-of-{'x'.join(map(str, shape))}", groups, shape)
    for groups, size in ((32, 28), (64, 56)):
        yield _plain(f"{groups}-of-2x64x{size}x{size}", groups, (2, 64, size, size), profile="standard")
    yield _plain("rank-16-one", 1, _DEEP)
    yield _plain("rank-16-each", 3, _DEEP)
    yield _plain("rank-15", 2, (2, 4, *_DEEP[3:]))
    for contents in ("far-from-zero", "equal", "one-far", "small"):
        yield _plain(contents, 4, contents=(contents, "usual"))
    yield _plain("far-from-zero-4099", 3, (1, 3, 4099), contents=("far-from-zero", "usual"))
    yield _plain("same-sign", 2, (1, 4, 4111), contents=("same-sign", "usual"))
    yield _plain("epsilon-3", 4, contents=("small", "usual"), epsilon=3.0)
    yield _plain("not-finite-channels", 4, contents=("random", "not-finite"))
    for groups, shape in ((5, (3, 10, 4)), (1, (15, 2, 4)), (15, (1, 15, 8))):
        yield _plain(f"exact-{groups}", groups, shape, contents=("halves", "integral"), epsilon=3.0, exact=True)
        yield _plain(f"special-{groups}", groups, shape, contents=("special", "integral"), epsilon=3.0, exact=True)


def _strided() -> Iterator[Plan]:
    inside = (5 * 7 * 12, 1, 7 * 12, 12)
    for groups in (1, 4, 12):
        yield Plan(f"channels-inside-{groups}", Form(_X, inside), groups, forms={"y": Form(_X, inside)})
    yield Plan("channels-inside-y", Form(_X), forms={"y": Form(_X, inside)})
    yield Plan("padded-rows", Form(_X, (600, 50, 10, 1)), forms={"y": Form(_X, (700, 55, 11, 1))})
    yield Plan("negative", Form(_X, (-420, -35, -7, -1), 1259), forms={"y": Form(_X, (420, 35, 7, -1), 6)})
    yield Plan("stride-0", Form(_X, (0, 35, 7, 1)))
    columns = {"scale": Form((12,), (-2,), 22), "bias": Form((12,), (0,))}
    for groups in (1, 4):
        yield Plan(f"parameters-apart-{groups}", Form(_X), groups, forms=columns)
    yield Plan("far", Form((2, 4, 5), (MANY, 5, 1)), 2, profile="large", dtypes=_NARROW)


def _inplace() -> Iterator[Plan]:
    for groups in (1, 4, 12):
        yield _plain(f"x-{groups}", groups, inplace=True)
    yield _plain("x-alone", 4, inplace=True, absent=("scale", "bias"))
    yield Plan("x-channels-inside", Form(_X, (420, 1, 84, 12)), inplace=True)


def _offset() -> Iterator[Plan]:
    odd = {"scale": Form((12,), None, 3), "bias": Form((12,), None, 1), "y": Form(_X, None, 7)}
    for groups in (1, 4):
        yield Plan(f"odd-{groups}", Form(_X, None, 1), groups, forms=odd)
    yield Plan("shifted", Form(_X), shift=3)


def _empty() -> Iterator[Plan]:
    yield _plain("no-samples", 4, (0, 12, 5))
    yield _plain("no-channels", 1, (3, 0, 5))
    yield _plain("channels-of-none", 4, (3, 12, 0))


PLANS: Final[Mapping[str, Callable[[], Iterator[Plan]]]] = {
    "dense": _dense,
    "strided": _strided,
    "inplace": _inplace,
    "offset": _offset,
    "empty": _empty,
}
"""For each layout the function that makes its plans; the first plan is the typical one."""
