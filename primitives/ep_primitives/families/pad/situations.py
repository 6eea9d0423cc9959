"""The situations of Pad: how much on which side of which dimensions, and how x and out lie."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from ep_primitives.cases.arrangement import Form
from ep_primitives.families.pad.cases import Plan
from ep_primitives.families.pad.rows import PAD_OPS
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

__all__ = ["CROPS", "pad_model", "planned"]

CROPS: Final = "crop"
"""A negative count, and an output that it leaves nothing of: only mode constant has them."""

_RANK: Final = Dimension("rank", ("2", "1", "3", "5", "16"))
_BEFORE: Final = Dimension("before", ("some", "none", "most", CROPS))
_AFTER: Final = Dimension("after", ("some", "none", "most", CROPS))
_AXES: Final = Dimension("axes", ("all", "last", "first", "middle"))
_ROWS: Final = Dimension("rows", ("few", "many"), late=("many",))
_MANY: Final = 70001


@cache
def pad_model(layout: str) -> Model:
    """Return the model of a layout."""
    return _MODELS[layout]()


def planned(op: str, layout: str, row: Row, seed: int) -> Plan:
    """Return the plan of a situation in a mode."""
    random, situation = drawer(f"{seed} {layout} {row.text}"), row.situation
    if layout == "rank0":
        return Plan("", Form(()), (), ())
    if layout == "empty":
        return _empty(op, situation["empty"], random)
    rank = int(situation["rank"])
    outer = DEEP if rank > len(DEEP) else small(random, rank - 1)
    shape = (*outer, extent(random, situation["inner"]))
    if situation.get("rows") == "many":
        shape = (_MANY, *shape[1:])
    every = range(rank) if rank <= len(DEEP) else (0, 7, rank - 1)
    padded = {"all": every, "last": (rank - 1,), "first": (0,), "middle": (rank // 2,)}[situation.get("axes", "all")]
    before, after = (
        tuple(_count(random, op, situation[side], shape[axis]) if axis in padded else 0 for axis in range(rank))
        for side in ("before", "after")
    )
    forms = forms_of(random, situation, {"x": shape, "out": [*map(sum, zip(before, shape, after, strict=True))]})
    return Plan("", forms["x"], before, after, forms["out"].strides, forms["out"].offset)


def _count(random: Random, op: str, word: str, extent: int) -> int:
    """Return how many elements lie on one side of an extent, where the mode has as many; crops leave at least one."""
    most = PAD_OPS[op].most(extent)
    counts = {"some": random.randint(1, 5), "none": 0, "most": extent + 3 if extent > 1 else 1}
    if word == CROPS:
        return -min(random.randint(1, 4), (extent - 1) // 2)
    return counts[word] if most is None else min(counts[word], max(most, 0))


def _empty(op: str, word: str, random: Random) -> Plan:
    a, b = random.randint(2, 5), random.randint(2, 5)
    if word == CROPS:
        return Plan("", Form((a, b)), (-a, 1), (0, 0))
    shape = {"first": (0, a, b), "middle": (a, 0, b), "last": (a, b, 0)}[word]
    counts = tuple(_count(random, op, "some", extent) if extent else 0 for extent in shape)
    return Plan("", Form(shape), counts, counts)


def _dense() -> Model:
    narrow = {"inner": ("few",)}
    return Model(
        (_RANK, INNER, _BEFORE, _AFTER, _AXES, _ROWS, *starts("x", "out"), *MANNERS),
        (
            Never({"rank": ("1",), "axes": _AXES.values[1:]}, "rank 1 has one dimension"),
            Never({"rank": ("2",), "axes": ("middle",)}, "rank 2 has no dimension between"),
            Never({"rank": ("1",), **narrow}, "two elements show no fault"),
            Never({"rank": ("16",), "inner": ("long",)}, "rank 16 has elements enough"),
            Never(
                {"rank": ("5",), "axes": ("all",), "before": ("most",), "after": ("most",)}, "each is tried for itself"
            ),
            *(
                Never({"rank": ("5",), "axes": ("all",), side: ("most",), "inner": ("long",)}, "27 million elements")
                for side in ("before", "after")
            ),
            only(_RANK, ("2",), {"rows": ("many",)}, "70,001 rows are tried in rank 2"),
            only(INNER, ("few",), {"rows": ("many",)}, "70,001 rows are tried with few elements each"),
        ),
    )


def _strided() -> Model:
    forms = formed({"x": READ, "out": WRITTEN})
    before, after = (Dimension(name, ("some", "none", CROPS)) for name in ("before", "after"))
    axes = Dimension("axes", ("all", "last", "first"))
    return Model(
        (_RANK, INNER, before, after, axes, *forms, *starts("x", "out"), *MANNERS),
        (
            not_all_dense(forms),
            *(flat(form, {"rank": ("1",)}) for form in forms),
            Never({"rank": ("1",), "axes": ("last", "first")}, "rank 1 has one dimension"),
            Never({"rank": ("16",), "inner": ("long",)}, "rank 16 has elements enough"),
            Never({"rank": ("5",), "axes": ("all",), "inner": ("long",)}, "rank 5 has elements enough"),
            Never({"rank": ("1",), "inner": ("few",)}, "two elements show no fault"),
            Never({"form-x": ("zero-first", "zero-last", "windows"), "inner": ("few",)}, "few elements show no fault"),
        ),
    )


def _offset() -> Model:
    forms = formed({"x": LINES, "out": LINES})
    rank = Dimension("rank", ("2", "3", "5"))
    before, after = (Dimension(name, ("some", "none", CROPS)) for name in ("before", "after"))
    return Model(
        (rank, INNER, before, after, *offsets("x", "out"), *forms, *starts("x", "out"), *MANNERS),
        (some_offset("x", "out"),),
    )


_MODELS: Final[Mapping[str, Callable[[], Model]]] = {
    "dense": _dense,
    "strided": _strided,
    "offset": _offset,
    "empty": lambda: empty_model("first", "middle", "last", CROPS),
    "rank0": lambda: rank0_model("x", "out"),
}
