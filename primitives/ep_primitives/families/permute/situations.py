"""The situations of Permute: which dimensions change places, how long the outermost and the innermost are, and how x and out lie."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from ep_primitives.families.permute.cases import Plan
from ep_primitives.situations.extents import DEEP, INNER, drawer, extent, small
from ep_primitives.situations.forms import LINES, READ, WRITTEN
from ep_primitives.situations.layouts import (
    empty_model,
    formed,
    forms_of,
    not_all_dense,
    offsets,
    only,
    rank0_model,
    some_offset,
)
from ep_primitives.situations.manner import MANNERS, starts
from ep_primitives.situations.model import Dimension, Model, Never

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_primitives.situations.family import Row

__all__ = ["permute_model", "planned"]

_RANK: Final = Dimension("rank", ("2", "3", "4", "6", "16"))
_ORDER: Final = Dimension("order", ("reversed", "left", "right", "first", "last", "halves", "same"))
"""Left and right: rotated. First and last: those two dimensions swap. Halves: the odd dimensions before the even ones."""
_FIRST: Final = Dimension("first", ("4k1", "4k", "4k2", "4k3", "few", "long", "one", "many"), late=("many",))
_MIDDLE: Final = Dimension("middle", ("some", "one"))
_MANY: Final = 70001


@cache
def permute_model(layout: str) -> Model:
    """Return the model of a layout."""
    return _MODELS[layout]()


def planned(layout: str, row: Row, seed: int) -> Plan:
    """Return the plan of a situation."""
    random, situation = drawer(f"{seed} {layout} {row.text}"), row.situation
    shape: tuple[int, ...] = ()
    if layout == "empty":
        a, b = random.randint(2, 5), random.randint(2, 5)
        shape = {"only": (0,), "first": (0, a, b), "middle": (a, 0, b), "last": (a, b, 0)}[situation["empty"]]
    elif layout != "rank0":
        rank = int(situation["rank"])
        word = situation.get("first", "4k1")
        first = {"one": 1, "many": _MANY}.get(word) or extent(random, word)
        middle = DEEP[1:-1] if rank > len(DEEP) else small(random, rank - 1)[1:]
        if situation.get("middle") == "one":
            middle = (1,) * len(middle)
        elif "long" in {word, situation["inner"]} and rank <= len(DEEP):
            middle = (2,) * len(middle)
        middle = (*middle, *(1,) * (rank - 2 - len(middle)))
        shape = (first, *middle, extent(random, situation["inner"]))
    order = _order(situation.get("order", "reversed"), len(shape))
    forms = forms_of(random, situation, {"x": shape, "out": [shape[axis] for axis in order]})
    return Plan("", forms["x"], order, forms["out"].strides, forms["out"].offset)


def _order(word: str, rank: int) -> tuple[int, ...]:
    axes = (*range(rank),)
    orders = {
        "reversed": axes[::-1],
        "left": (*axes[1:], *axes[:1]),
        "right": (*axes[-1:], *axes[:-1]),
        "first": (*axes[:2][::-1], *axes[2:]),
        "last": (*axes[:-2], *axes[-2:][::-1]),
        "halves": (*axes[1::2], *axes[::2]),
        "same": axes,
    }
    return orders[word]


def _dense() -> Model:
    narrow = {"inner": ("long",)}
    return Model(
        (_RANK, _ORDER, _FIRST, _MIDDLE, INNER, *starts("x", "out"), *MANNERS),
        (
            Never({"first": ("long",), **narrow}, "each is tried for itself"),
            Never({"rank": ("6", "16"), **narrow}, "many dimensions have elements enough"),
            Never({"rank": ("6", "16"), "first": ("long",)}, "many dimensions have elements enough"),
            Never({"rank": ("2",), "middle": ("one",)}, "rank 2 has no dimension between"),
            only(_RANK, ("2",), {"first": ("many",)}, "70,001 rows are tried in rank 2"),
            only(INNER, ("few",), {"first": ("many",)}, "70,001 rows are tried with few elements each"),
        ),
    )


def _strided() -> Model:
    forms = formed({"x": READ, "out": WRITTEN})
    first, shared = Dimension("first", ("4k1", "4k", "few", "long")), ("zero-last", "zero-first", "windows")
    return Model(
        (_RANK, _ORDER, first, INNER, *forms, *starts("x", "out"), *MANNERS),
        (
            not_all_dense(forms),
            Never({"first": ("long",), "inner": ("long",)}, "each is tried for itself"),
            Never({"rank": ("6", "16"), "inner": ("long",)}, "many dimensions have elements enough"),
            Never({"rank": ("6", "16"), "first": ("long",)}, "many dimensions have elements enough"),
            Never({"form-x": shared, "first": ("few",)}, "few elements show no fault"),
            Never({"form-x": shared, "inner": ("few",)}, "few elements show no fault"),
        ),
    )


def _offset() -> Model:
    forms = formed({"x": (*LINES, "negative"), "out": (*LINES, "negative")})
    rank, order = Dimension("rank", ("2", "3", "6")), Dimension("order", ("reversed", "left", "last", "same"))
    dimensions = (rank, order, INNER, *offsets("x", "out"), *forms, *starts("x", "out"), *MANNERS)
    large = Never({"rank": ("6",), "inner": ("long",)}, "many dimensions have elements enough")
    return Model(dimensions, (large, some_offset("x", "out")))


_MODELS: Final[Mapping[str, Callable[[], Model]]] = {
    "dense": _dense,
    "strided": _strided,
    "offset": _offset,
    "empty": lambda: empty_model("only", "first", "middle", "last"),
    "rank0": lambda: rank0_model("x", "out"),
}
