"""The situations of Quantize and Dequantize: what has a scale of its own, and how all operands lie."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from ep_primitives.families.quantization.plans import Plan
from ep_primitives.situations.extents import DEEP, INNER, drawer, extent, small
from ep_primitives.situations.forms import LINES, READ, WRITTEN
from ep_primitives.situations.layouts import (
    empty_model,
    flat,
    formed,
    forms_of,
    not_all_dense,
    offsets,
    rank0_model,
    some_offset,
)
from ep_primitives.situations.manner import MANNERS, starts
from ep_primitives.situations.model import Dimension, Model, Never

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from ep_primitives.situations.family import Row

__all__ = ["planned", "quantization_model"]

_NAMES: Final = ("x", "scale", "zero_point", "out")
_RANK: Final = Dimension("rank", ("2", "1", "3", "5", "16"))
_SCALE: Final = Dimension("scale", ("rows", "one", "columns", "each", "blocks"))
_BLOCK: Final = Dimension("block", ("16", "1", "8", "odd", "more"))
_AXIS: Final = Dimension("axis", ("last", "first"))
_ZERO: Final = Dimension("zero", ("some", "none"))
_CONTENTS: Final = Dimension("contents", ("random", "ties", "special"))


@cache
def quantization_model(layout: str) -> Model:
    """Return the model of a layout."""
    return _MODELS[layout]()


def planned(layout: str, row: Row, seed: int) -> Plan:
    """Return the plan of a situation."""
    random, situation = drawer(f"{seed} {layout} {row.text}"), row.situation
    has = situation.get("zero", "some") == "some"
    axis = block = None
    shape: tuple[int, ...] = ()
    scale: tuple[int, ...] = ()
    if layout == "empty":
        a, b = random.randint(2, 5), random.randint(2, 5)
        shape, scale = {"only": ((0,), ()), "first": ((0, a, b), (b,)), "last": ((a, b, 0), (b, 1))}[situation["empty"]]
    elif layout != "rank0":
        rank = int(situation["rank"])
        outer = DEEP if rank > len(DEEP) else small(random, rank - 1)
        shape = (*outer, extent(random, situation["inner"]))
        if situation["scale"] == "blocks":
            axis = rank - 1 if situation.get("axis", "last") == "last" else 0
            block = _block(random, situation.get("block", "16"), shape[axis])
        scale = _scale(situation["scale"], shape, axis, block)
    forms = forms_of(random, situation, {"x": shape, "scale": scale, "zero_point": scale, "out": shape})
    x, step = forms.pop("x"), forms.pop("scale")
    return Plan("", x, step, has, axis, block, forms, situation.get("contents", "random"))


def _block(random: Random, word: str, extent: int) -> int:
    return {"16": 16, "1": 1, "8": 8, "odd": random.choice((3, 5, 7)), "more": extent + random.randint(1, 9)}[word]


def _scale(word: str, shape: tuple[int, ...], axis: int | None, block: int | None) -> tuple[int, ...]:
    if axis is not None and block is not None:
        return (*shape[:axis], -(-shape[axis] // block), *shape[axis + 1 :])
    shapes = {"one": (), "rows": (*shape[:1], *(1,) * (len(shape) - 1)), "columns": shape[-1:], "each": shape}
    return shapes[word]


def _dense() -> Model:
    unblocked = {"scale": _SCALE.values[:-1]}
    return Model(
        (_RANK, INNER, _SCALE, _BLOCK, _AXIS, _ZERO, _CONTENTS, *starts(*_NAMES), *MANNERS),
        (
            Never({**unblocked, "block": _BLOCK.values[1:]}, "there are no blocks"),
            Never({**unblocked, "axis": _AXIS.values[1:]}, "there are no blocks"),
            Never({"zero": ("none",), "start-zero_point": ("1", "8B", "16B", "32B")}, "there is no zero point"),
            Never({"contents": ("special",), "scale": ("one", "blocks")}, "six scales are special"),
            Never({"contents": ("special", "ties"), "inner": ("few",)}, "few elements show no fault"),
            Never({"contents": ("special",), "rank": ("1",)}, "six scales are special"),
            Never({"contents": ("special",), "rank": ("16", "5", "3"), "scale": ("rows",)}, "six scales are special"),
            Never({"rank": ("16",), "scale": ("blocks",)}, "blocks are another dimension"),
            Never({"rank": ("16",), "inner": ("long",)}, "rank 16 has elements enough"),
        ),
    )


def _strided() -> Model:
    lines = ("dense", "padded", "step", "negative", "permuted")
    forms = formed({"x": READ, "scale": (*lines, "zero-last"), "zero_point": lines, "out": WRITTEN})
    scale, rank = Dimension("scale", ("each", "columns", "blocks")), Dimension("rank", ("2", "3", "16"))
    return Model(
        (rank, INNER, scale, _ZERO, *forms, *starts(*_NAMES), *MANNERS),
        (
            not_all_dense([form for form in forms if form.name != "form-zero_point"]),
            *(flat(form, {"scale": ("columns",)}) for form in forms[1:3]),
            *_no_zero(forms[2]),
            Never({"rank": ("16",), "scale": ("blocks",)}, "blocks are another dimension"),
            Never({"rank": ("16",), "inner": ("long",)}, "rank 16 has elements enough"),
            Never({"form-x": ("zero-first", "zero-last", "windows"), "inner": ("few",)}, "few elements show no fault"),
        ),
    )


def _offset() -> Model:
    forms = formed({"x": LINES, "scale": ("dense", "step", "negative"), "out": LINES})
    scale, rank = Dimension("scale", ("each", "columns", "blocks")), Dimension("rank", ("2", "3"))
    offset = offsets(*_NAMES)
    return Model(
        (rank, INNER, scale, _ZERO, *offset, *forms, *starts(*_NAMES), *MANNERS),
        (some_offset("x", "scale", "out"), *_no_zero(offset[2])),
    )


def _no_zero(dimension: Dimension) -> tuple[Never, ...]:
    """Return that a zero point that is absent lies nowhere."""
    why, none = "there is no zero point", {"zero": ("none",)}
    usual = "dense" if "dense" in dimension.values else "0"
    words = tuple(word for word in dimension.values if word != usual)
    return (
        Never({**none, dimension.name: words}, why),
        Never({**none, "start-zero_point": ("1", "8B", "16B", "32B")}, why),
    )


_MODELS: Final[Mapping[str, Callable[[], Model]]] = {
    "dense": _dense,
    "strided": _strided,
    "offset": _offset,
    "empty": lambda: empty_model("only", "first", "last"),
    "rank0": lambda: rank0_model(*_NAMES),
}
