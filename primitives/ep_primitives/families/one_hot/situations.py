"""The situations of OneHot: how many classes along which axis, which one is first, what indices ask for, and how all lies."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from ep_primitives.cases.arrangement import Form
from ep_primitives.families.one_hot.cases import Plan
from ep_primitives.situations.extents import DEEP, INNER, drawer, extent, small
from ep_primitives.situations.forms import LINES, READ, WRITTEN
from ep_primitives.situations.layouts import (
    empty_model,
    flat,
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
    from random import Random

    from ep_primitives.situations.family import Row

__all__ = ["one_hot_model", "planned"]

_NAMES: Final = ("indices", "out")
_RANK: Final = Dimension("rank", ("1", "2", "4", "15"))
_AXIS: Final = Dimension("axis", ("last", "first", "middle"))
_CLASSES: Final = Dimension("classes", ("dozens", "4k", "few", "one", "thousands", "many"), late=("many",))
_ROWS: Final = Dimension("inner", (*INNER.values, "many"), late=("many",))
_FIRST: Final = Dimension("first", ("0", "some", "negative", "least", "greatest"))
_ASKED: Final = Dimension("asked", ("mixed", "random", "edges", "sorted", "reversed", "repeated"))
_MANY: Final = 70001


@cache
def one_hot_model(layout: str) -> Model:
    """Return the model of a layout."""
    return _MODELS[layout]()


def planned(layout: str, row: Row, seed: int, bits: int) -> Plan:
    """Return the plan of a situation.

    bits : of an index
    """
    random, situation = drawer(f"{seed} {layout} {row.text}"), row.situation
    if layout == "empty":
        a, b = random.randint(2, 5), random.randint(2, 5)
        return Plan(
            "",
            Form((a, b)) if situation["empty"] == "classes" else Form((a, 0, b)),
            0 if situation["empty"] == "classes" else a,
            axis=1,
        )
    if layout == "rank0":
        return Plan("", Form(()), random.randint(5, 9), contents=situation["asked"])
    rank = int(situation["rank"])
    outer = DEEP[: rank - 1] if rank > len(DEEP) - 1 else small(random, rank - 1)
    inner = situation["inner"]
    last = _MANY if inner == "many" else extent(random, inner)
    shape = (*outer, last % 16 + 4 if situation["classes"] == "many" else last)
    axis = {"last": rank, "first": 0, "middle": (rank + 1) // 2}[situation.get("axis", "last")]
    classes = _classes(random, situation["classes"], 9 if inner == "long" else 40)
    shapes = {"indices": shape, "out": (*shape[:axis], classes, *shape[axis:])}
    forms = forms_of(random, situation, shapes)
    end = 1 << bits - 1
    firsts = {
        "0": 0,
        "some": random.randint(3, 300),
        "negative": -random.randint(2, 9),
        "least": -end,
        "greatest": end - classes,
    }
    first = firsts[situation.get("first", "0")]
    return Plan("", **forms, axis=axis, first=first, contents=situation.get("asked", "mixed"))


def _classes(random: Random, word: str, most: int) -> int:
    dozens = random.randint(most // 2 + 1, most)
    counts = {"dozens": dozens, "4k": dozens // 4 * 4, "few": random.randint(2, 3), "one": 1, "many": _MANY}
    return counts.get(word) or random.randint(1100, 4200)


def _dense() -> Model:
    large = {"classes": ("thousands", "many")}
    return Model(
        (_RANK, _AXIS, _CLASSES, _ROWS, _FIRST, _ASKED, *starts(*_NAMES), *MANNERS),
        (
            only(_ASKED, ("mixed", "edges"), {"classes": ("one",)}, "one class shows no other choice"),
            only(
                _ASKED, ("mixed", "random", "sorted"), {"inner": ("few",), "rank": ("1",)}, "few indices are in range"
            ),
            only(_RANK, ("1",), large, "many classes are tried in rank 1"),
            Never({**large, "inner": ("long", "many")}, "each is tried for itself"),
            Never({"rank": ("15",), "inner": ("long",)}, "rank 16 has elements enough"),
            only(_RANK, ("1",), {"inner": ("many",)}, "70,001 rows are tried in rank 1"),
        ),
    )


def _strided() -> Model:
    forms = formed({"indices": READ, "out": WRITTEN})
    rank, classes = Dimension("rank", ("2", "1", "3", "15")), Dimension("classes", ("dozens", "4k", "few"))
    return Model(
        (rank, _AXIS, classes, INNER, *forms, *starts(*_NAMES), *MANNERS),
        (
            not_all_dense(forms),
            flat(forms[0], {"rank": ("1",)}),
            Never({"rank": ("15",), "inner": ("long",)}, "rank 16 has elements enough"),
        ),
    )


def _offset() -> Model:
    forms = formed({"indices": ("dense", "step", "negative"), "out": LINES})
    rank, classes = Dimension("rank", ("1", "2", "3")), Dimension("classes", ("dozens", "4k", "few"))
    return Model(
        (rank, _AXIS, classes, INNER, *offsets(*_NAMES), *forms, *starts(*_NAMES), *MANNERS), (some_offset(*_NAMES),)
    )


_MODELS: Final[Mapping[str, Callable[[], Model]]] = {
    "dense": _dense,
    "strided": _strided,
    "offset": _offset,
    "empty": lambda: empty_model("indices", "classes"),
    "rank0": lambda: rank0_model(*_NAMES, dimensions=(Dimension("asked", ("random", "outside")),)),
}
