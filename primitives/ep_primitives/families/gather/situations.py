"""The situations of Gather: which axis, how many indices of what rank, what they ask for, and how all operands lie."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from ep_primitives.cases.arrangement import Form
from ep_primitives.families.gather.cases import Plan
from ep_primitives.situations.extents import INNER, drawer, extent
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
    from ep_primitives.situations.model import Situation

__all__ = ["gather_model", "planned"]

_NAMES: Final = ("x", "indices", "out")
_BATCH: Final = Dimension("batch", ("0", "1", "2"))
_OUTER: Final = Dimension("outer", ("none", "some"))
_EXTENT: Final = Dimension("extent", ("dozens", "one", "few", "thousands", "zero"))
_PLACES: Final = Dimension("places", ("1", "0", "2", "deep"))
_COUNT: Final = Dimension("count", ("dozens", "4k", "few", "one", "many"), late=("many",))
_ASKED: Final = Dimension("asked", ("mixed", "random", "edges", "sorted", "reversed", "repeated"))
_RUN: Final = Dimension("inner", (*INNER.values, "none"))
_BATCHES: Final = {"0": (), "1": (3,), "2": (2, 3)}
_DEEP: Final = (2, 1, 1, 2, *(1,) * 12)


@cache
def gather_model(layout: str) -> Model:
    """Return the model of a layout."""
    return _MODELS[layout]()


def planned(layout: str, row: Row, seed: int) -> Plan:
    """Return the plan of a situation."""
    random, situation = drawer(f"{seed} {layout} {row.text}"), row.situation
    if layout == "empty":
        return _empty(situation["empty"], random)
    if layout == "rank0":
        shape = () if situation["x"] == "rank0" else (random.randint(5, 99),)
        return Plan("", Form(shape), Form(()), contents=situation["asked"])
    batches = _BATCHES[situation.get("batch", "0")]
    outer = (random.randint(3, 5),) if situation["outer"] == "some" else ()
    inner = () if situation["inner"] == "none" else (extent(random, situation["inner"]),)
    before = (*batches, *outer)
    shapes = {"x": (*before, _extent(random, situation.get("extent", "dozens")), *inner)}
    places = _places(random, situation, 16 - len(before) - len(inner))
    shapes |= {"indices": (*batches, *places), "out": (*before, *places, *inner)}
    forms = forms_of(random, situation, shapes)
    asked = situation.get("asked", "mixed")
    return Plan("", **forms, axis=len(before), batch_dims=len(batches), contents=asked)


def _extent(random: Random, word: str) -> int:
    counts = {"dozens": (11, 40), "one": (1, 1), "few": (2, 3), "thousands": (4000, 4200), "zero": (0, 0)}
    return random.randint(*counts[word])


def _places(random: Random, situation: Situation, room: int) -> tuple[int, ...]:
    """Return the extents of indices beside those of batches; deep ones make an output of rank 16."""
    if situation["places"] == "0":
        return ()
    dozens = random.randint(9, 33)
    count = {"dozens": dozens, "4k": dozens // 4 * 4, "few": random.randint(2, 3), "one": 1, "many": 70001}
    outer = {"1": (), "2": (random.randint(2, 4),), "deep": _DEEP[: room - 1]}
    return (*outer[situation["places"]], count[situation["count"]])


def _dense() -> Model:
    dozens, narrow = {"count": ("few", "one")}, ("none", "few")
    sure = ("mixed", "random", "sorted")
    return Model(
        (_BATCH, _OUTER, _EXTENT, _RUN, _PLACES, _COUNT, _ASKED, *starts(*_NAMES), *MANNERS),
        (
            only(_ASKED, ("mixed", "edges"), {"extent": ("one", "zero")}, "one row or none shows no other choice"),
            only(_ASKED, sure, {"places": ("0",)}, "one index is in range"),
            only(_ASKED, sure, dozens, "few indices are in range"),
            Never({"asked": ("repeated",), "inner": narrow}, "two elements show no fault"),
            Never({"extent": ("one", "few"), "inner": narrow}, "few elements show no fault"),
            Never({"places": ("0",), "inner": narrow}, "few elements show no fault"),
            Never({**dozens, "inner": narrow}, "few elements show no fault"),
            Never({"extent": ("thousands",), "inner": ("long",)}, "each is tried for itself"),
            Never({"extent": ("thousands",), "batch": ("1", "2")}, "each is tried for itself"),
            Never({"places": ("deep",), "inner": ("long",)}, "rank 16 has elements enough"),
            Never({"places": ("0",), "count": _COUNT.values[1:]}, "one index has no extents"),
            only(_RUN, narrow, {"count": ("many",)}, "70,001 rows are tried with few elements each"),
            Never({"count": ("many",), "places": ("2", "deep")}, "70,001 indices are tried in rank 1"),
            Never({"count": ("many",), "batch": ("1", "2")}, "70,001 indices are tried without batches"),
        ),
    )


def _strided() -> Model:
    forms = formed({"x": READ, "indices": ("dense", "step", "negative", "permuted", "zero-last"), "out": WRITTEN})
    batch, places = Dimension("batch", ("0", "1")), Dimension("places", ("1", "2", "deep"))
    count = Dimension("count", ("dozens", "4k"))
    return Model(
        (batch, _OUTER, _RUN, places, count, *forms, *starts(*_NAMES), *MANNERS),
        (
            not_all_dense(forms),
            flat(forms[1], {"batch": ("0",), "places": ("1",)}),
            Never({"inner": ("none",), "outer": ("none",)}, "an axis alone is layout dense's"),
            Never({"inner": ("none", "few"), "form-x": ("zero-last", "windows")}, "equal elements show no index"),
            Never({"inner": ("none", "few"), "form-indices": ("zero-last",)}, "equal indices show few elements"),
            Never({"form-indices": ("zero-last",), "form-x": ("zero-last",)}, "equal elements show no index"),
            Never({"places": ("deep",), "inner": ("long",)}, "rank 16 has elements enough"),
        ),
    )


def _offset() -> Model:
    forms = formed({"x": LINES, "indices": ("dense", "step", "negative"), "out": LINES})
    run = Dimension("inner", ("4k1", "4k", "few", "long"))
    places, count = Dimension("places", ("1", "2")), Dimension("count", ("dozens", "4k"))
    return Model(
        (_OUTER, run, places, count, *offsets(*_NAMES), *forms, *starts(*_NAMES), *MANNERS),
        (some_offset(*_NAMES),),
    )


def _empty(word: str, random: Random) -> Plan:
    a, b = random.randint(2, 5), random.randint(2, 5)
    if word == "indices":
        return Plan("", Form((a, b)), Form((0,)))
    if word == "batches":
        return Plan("", Form((0, a, b)), Form((0, 2)), axis=1, batch_dims=1)
    return Plan("", Form((a, 0)), Form((b,)), contents="random")


_MODELS: Final[Mapping[str, Callable[[], Model]]] = {
    "dense": _dense,
    "strided": _strided,
    "offset": _offset,
    "empty": lambda: empty_model("indices", "rows", "batches"),
    "rank0": lambda: rank0_model(
        *_NAMES,
        dimensions=(Dimension("x", ("rank1", "rank0")), Dimension("asked", ("random", "outside"))),
    ),
}
