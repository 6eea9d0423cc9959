"""The plans of cells' cases, by layout of the cell: the operands' layouts, and the purpose of each case; the same for every kind of cell.

A kind has variants: its words, and whether the operand that may be absent is there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ep_primitives.cases.arrangement import MANY, Form
from ep_primitives.families.recurrent_cell.descriptor import ACTIVATIONS
from ep_primitives.families.recurrent_cell.gru_cell import GruCell
from ep_primitives.families.recurrent_cell.lstm_cell import LstmCell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_primitives.cases.case import Profile
    from ep_primitives.families.recurrent_cell.descriptor import RecurrentCell

    Kind = type[RecurrentCell]

__all__ = ["PLANS", "Plan"]

_COUNT: Final = 5
_WIDTH: Final = 17
_NARROW: Final = ("float16", "bfloat16")


@dataclass(frozen=True)
class Plan:
    """One case for any floating element type.

    count, width : how many states there are, and their elements
    has_more     : True if the operand that may be absent is there
    words        : attributes that are not the usual ones
    forms        : where operands lie that are not dense
    contents     : a name in CONTENTS
    exact        : True if the contents fix every bit
    inplace      : True if c_next lies where c does
    dtypes       : the element types that have the case; none named are all
    """

    name: str
    count: int = _COUNT
    width: int = _WIDTH
    has_more: bool = False
    words: Mapping[str, Any] = field(default_factory=dict)
    forms: Mapping[str, Form] = field(default_factory=dict)
    contents: str = "random"
    exact: bool = False
    inplace: bool = False
    profile: Profile = "quick"
    shift: int = 0
    dtypes: tuple[str, ...] = ()


def _variants(kind: Kind) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the variants of a kind of cell, each after its suffix for names; the usual one first."""
    yield "", {}
    if kind is LstmCell:
        yield "-peephole", {"has_more": True}
    if kind is GruCell:
        yield "-linear", {"words": {"linear_before_reset": True}}
        yield "-bias", {"words": {"linear_before_reset": True}, "has_more": True}


def _dense(kind: Kind) -> Iterator[Plan]:
    activations = [name for name in kind.words if name.endswith("_activation")]
    relu: dict[str, Any] = dict.fromkeys(activations, "relu")
    for suffix, more in _variants(kind):
        yield Plan(f"rows{suffix}", **more)
        yield Plan(f"130x64{suffix}", 130, 64, profile="standard", **more)
        words = more.get("words", {})
        for contents, count, width in (("integers", 11, 16), ("not-finite", 11, 16), ("integers", 3, 129)):
            size = "" if width == 16 else f"-{width}"  # noqa: PLR2004 - the usual one
            exact = {**more, "words": words | relu}
            yield Plan(f"{contents}{size}{suffix}", count, width, contents=contents, exact=True, **exact)
        yield Plan(f"saturated{suffix}", contents="saturated", **more)
    for count, width in ((1, 1), (1, 64), (33, 3), (2, 65), (7, 130)):
        yield Plan(f"{count}x{width}", count, width)
    for count, width in ((3, 515), (1, 1024)):
        yield Plan(f"{count}x{width}", count, width, profile="standard")
    yield Plan("same-sign", 3, 257, contents="same-sign")
    for name in activations:
        for chosen in ACTIVATIONS:
            yield Plan(f"{name.replace('_activation', '')}-{chosen}", words={name: chosen})


def _strided(kind: Kind) -> Iterator[Plan]:
    for suffix, more in _variants(kind):
        for name, forms in _arranged(kind):
            yield Plan(f"{name}{suffix}", forms=forms, **more)
        yield Plan(
            f"far-rows{suffix}",
            2,
            3,
            forms={"h": Form((2, 3), (MANY, 1))},
            profile="large",
            dtypes=_NARROW,
            **more,
        )


def _arranged(kind: Kind) -> Iterator[tuple[str, dict[str, Form]]]:
    """Yield forms of all operands, by their common layout."""
    shapes = kind.shapes(_COUNT, _WIDTH)
    matrices = {name: shape for name, shape in shapes.items() if len(shape) > 1}
    yield "turned", {name: Form(shape, (1, shape[0])) for name, shape in matrices.items()}
    yield "turned-weights", {"r": Form(shapes["r"], (1, shapes["r"][0]))}
    steps = {name: shape for name, shape in matrices.items() if name != "r"}
    yield "steps", {name: Form((rows, columns), (3 * columns, 1)) for name, (rows, columns) in steps.items()}
    yield (
        "backwards",
        {name: Form((rows, columns), (-columns, -1), rows * columns - 1) for name, (rows, columns) in matrices.items()},
    )
    rows = {name: Form(shape, (2,)) for name, shape in shapes.items() if len(shape) == 1}
    yield "every-second", rows | {name: Form((n, m), (2 * m + 3, 2)) for name, (n, m) in matrices.items()}
    one = {name: Form(shape, (0, 1)) for name, shape in matrices.items() if name in {"gates", "h", "c"}}
    yield "one-for-all", one | {name: Form(shape, (0,)) for name, shape in shapes.items() if len(shape) == 1}
    yield "equal-columns", {name: Form(shapes[name], (1, 0)) for name in ("h", "r")}


def _inplace(kind: Kind) -> Iterator[Plan]:
    turned = Form((_COUNT, _WIDTH), (1, _COUNT))
    for suffix, more in _variants(kind):
        yield Plan(f"c{suffix}", inplace=True, **more)
        forms = dict.fromkeys(("c", "h_next", "c_next"), turned)
        yield Plan(f"c-turned{suffix}", forms=forms, inplace=True, **more)


def _offset(kind: Kind) -> Iterator[Plan]:
    for suffix, more in _variants(kind):
        shapes = kind.shapes(_COUNT, _WIDTH)
        odd = {name: Form(shape, None, 2 * place + 1) for place, (name, shape) in enumerate(shapes.items())}
        yield Plan(f"odd{suffix}", forms=odd, **more)
        yield Plan(f"shifted{suffix}", shift=3, **more)


def _empty(kind: Kind) -> Iterator[Plan]:
    for suffix, more in _variants(kind):
        yield Plan(f"no-rows{suffix}", 0, 5, **more)
        yield Plan(f"no-columns{suffix}", 5, 0, **more)


PLANS: Final[Mapping[str, Callable[[Kind], Iterator[Plan]]]] = {
    "dense": _dense,
    "strided": _strided,
    "inplace": _inplace,
    "offset": _offset,
    "empty": _empty,
}
"""By layout, the function that makes the plans of a kind of cell; the first one is typical."""
