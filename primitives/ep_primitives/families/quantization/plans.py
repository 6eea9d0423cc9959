"""How the operands of the cases of Quantize and Dequantize lie, by layout of the cell, and what each case is about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ep.layout.spec import dense_strides

from ep_primitives.cases.arrangement import MANY, Form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_primitives.cases.case import Profile

__all__ = ["PLANS", "Plan"]

_ROWS: Final = (7, 65)
_IMAGE: Final = (2, 5, 3, 7)
_DEEP: Final = (2, 1, 3, 1, 2, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 3)


@dataclass(frozen=True)
class Plan:
    """One case for any pair of element types.

    x              : where it lies
    scale          : where it lies, and so does the zero point unless `forms` say other
    has_zero_point : True if it is there
    forms          : where zero point and out lie if they are not dense
    contents       : a name in CONTENTS
    sizes          : the itemsizes of the integers that have the case; none named are all
    """

    name: str
    x: Form
    scale: Form
    has_zero_point: bool = True
    axis: int | None = None
    block: int | None = None
    forms: Mapping[str, Form] = field(default_factory=dict)
    contents: str = "random"
    profile: Profile = "quick"
    shift: int = 0
    sizes: tuple[int, ...] = ()


def _plain(name: str, shape: tuple[int, ...], scale: tuple[int, ...] = (), **more: Any) -> Plan:
    return Plan(name, Form(shape), Form(scale), **more)


def _dense() -> Iterator[Plan]:
    for has in (True, False):
        end = "" if has else "-no-zero-point"
        yield _plain(f"tensor{end}", (1025,), has_zero_point=has)
        yield _plain(f"channels{end}", _IMAGE, (5, 1, 1), has_zero_point=has)
        yield _plain(f"blocks{end}", _ROWS, (7, 5), axis=1, block=16, has_zero_point=has)
        yield _plain(f"special{end}", (6, 131), (6, 1), contents="special", has_zero_point=has)
        yield _plain(f"ties{end}", (3, 257), (3, 1), contents="ties", has_zero_point=has)
    yield _plain("columns", _ROWS, (65,))
    yield _plain("each", _ROWS, _ROWS)
    yield _plain("rank-4-scale", _IMAGE, (2, 1, 1, 7))
    yield _plain("rank-16", _DEEP, (3,))
    yield _plain("blocks-axis-0", (33, 17), (3, 17), axis=0, block=16)
    yield _plain("blocks-last", (4, 6, 32), (4, 6, 4), axis=-1, block=8)
    yield _plain("blocks-of-1", (5, 9), (5, 9), axis=1, block=1)
    yield _plain("blocks-of-more", (5, 9), (5, 1), axis=1, block=100)
    yield _plain("blocks-of-all", (6, 32), (1, 4), axis=1, block=8)
    yield _plain("blocks-rank-15", _DEEP[1:], (*_DEEP[1:2], 2, *_DEEP[3:]), axis=1, block=2)
    yield _plain("size-1048579", (2**20 + 3,), profile="standard")


def _strided() -> Iterator[Plan]:
    turned = Form((33, 17), (1, 33))
    yield Plan("transposed", turned, Form((17,)))
    yield Plan("transposed-out", Form((33, 17)), Form((33, 1)), forms={"out": turned})
    yield Plan("padded-rows", Form(_ROWS, (80, 1)), Form(()), forms={"out": Form(_ROWS, (67, 1))})
    yield Plan(
        "negative", Form(_ROWS, (-65, -1), 454), Form((7, 1), (-2, 1), 12), forms={"out": Form(_ROWS, (70, -1), 64)}
    )
    yield Plan("stride-0", Form(_ROWS, (0, 1)), Form((65,), (0,)), forms={"zero_point": Form((65,), (3,))})
    yield Plan(
        "blocks-turned", Form(_ROWS, (1, 7)), Form((7, 5), (1, 7)), axis=1, block=16, forms={"out": Form(_ROWS, (1, 8))}
    )
    outside_in = tuple(reversed(dense_strides(tuple(reversed(_DEEP)))))
    yield Plan("rank-16", Form(_DEEP, outside_in), Form(()))
    yield Plan("far-rows", Form((2, 19), (MANY, 1)), Form(()), profile="large", sizes=(1,))


def _offset() -> Iterator[Plan]:
    odd = {"zero_point": Form((7, 1), None, 5), "out": Form(_ROWS, None, 7)}
    yield Plan("odd", Form(_ROWS, None, 1), Form((7, 1), None, 3), forms=odd)
    yield Plan("shifted", Form(_ROWS), Form((65,)), shift=8)


def _empty() -> Iterator[Plan]:
    yield _plain("size-0", (0,))
    yield _plain("inner-0", (3, 0, 5), (5,))
    yield _plain("blocks-of-none", (3, 0), (3, 0), axis=1, block=4)


def _rank0() -> Iterator[Plan]:
    yield _plain("one", ())


PLANS: Final[Mapping[str, Callable[[], Iterator[Plan]]]] = {
    "dense": _dense,
    "strided": _strided,
    "offset": _offset,
    "empty": _empty,
    "rank0": _rank0,
}
"""For each layout the function that makes its plans; the first plan is the typical one."""
