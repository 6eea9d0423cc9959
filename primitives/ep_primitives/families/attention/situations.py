"""The situations of Attention: extents, groups of heads, masks, causality, and how all operands lie."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from ep_primitives.cases.arrangement import Form
from ep_primitives.families.attention.plans import Plan
from ep_primitives.situations.extents import drawer
from ep_primitives.situations.layouts import empty_model, formed, forms_of, not_all_dense, offsets, some_offset
from ep_primitives.situations.manner import MANNERS, starts
from ep_primitives.situations.model import Dimension, Model, Never

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from ep_primitives.situations.family import Row

__all__ = ["NAMES", "UNMASKED", "attention_model", "planned"]

NAMES: Final = ("q", "k", "v", "out")
UNMASKED: Final = "none"
"""The mask of a case without one."""

_EXTENTS: Final = ("4k1", "4k", "one", "few", "long")
_QUERIES, _KEYS = (Dimension(name, _EXTENTS) for name in ("queries", "keys"))
_DEPTH, _COLUMNS = (Dimension(name, ("4k1", "4k", "one", "few")) for name in ("depth", "columns"))
_BATCH: Final = Dimension("batch", ("two", "none", "one", "deep"))
_HEADS: Final = Dimension("heads", ("each", "grouped", "one"))
"""The heads of k and v: as many as q has, a third of them, or one."""
_MASK: Final = Dimension("mask", ("whole", UNMASKED, "keys", "queries", "rank0"))
_SCALE: Final = Dimension("scale", ("usual", "0.25", "-1.5"))
_SOFTCAP: Final = Dimension("softcap", ("0", "5"))
_CAUSAL: Final = Dimension("causal", ("no", "square", "ahead", "behind"))
_CONTENTS: Final = Dimension("contents", ("random", "large"))
_DEEP: Final = (2, 1, 3, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 2)
_FORMS: Final = ("dense", "padded", "permuted", "rotated", "negative")


@cache
def attention_model(layout: str) -> Model:
    """Return the model of a layout."""
    return _MODELS[layout]()


def planned(layout: str, row: Row, seed: int) -> Plan:
    """Return the plan of a situation."""
    random, situation = drawer(f"{seed} {layout} {row.text}"), row.situation
    batch, kept = _batches(situation.get("batch", "two"), situation.get("heads", "each"))
    queries, keys, depth, columns = (
        _extent(random, situation.get(name, "4k1")) for name in ("queries", "keys", "depth", "columns")
    )
    if layout == "empty":
        no = situation["empty"]
        queries, keys, columns = (
            0 if no == each else n for each, n in (("queries", queries), ("keys", keys), ("columns", columns))
        )
        batch = kept = (0, 3) if no == "batch" else batch
    shapes = {
        "q": (*batch, queries, depth),
        "k": (*kept, keys, depth),
        "v": (*kept, keys, columns),
        "out": (*batch, queries, columns),
    }
    causal = situation.get("causal", "no")
    ahead = {"ahead": random.randint(1, 9), "behind": -min(queries // 2, 3)}.get(causal, 0)
    scale = situation.get("scale", "usual")
    return Plan(
        "",
        **forms_of(random, situation, shapes),
        mask=_mask(situation.get("mask", "whole"), (*batch, queries, keys)),
        scale=None if scale == "usual" else float(scale),
        softcap=float(situation.get("softcap", "0")),
        is_causal=causal != "no",
        offset=ahead,
        contents=situation.get("contents", "random"),
    )


def _batches(word: str, heads: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the batch of q, and the one of k and v."""
    batch = {"two": (2, 3), "none": (), "one": (3,), "deep": _DEEP}[word]
    if heads == "each":
        return batch, batch
    return (*batch[:-1], 6), (*batch[:-1], 2 if heads == "grouped" else 1)


def _extent(random: Random, word: str) -> int:
    extents = {"one": 1, "few": random.randint(2, 3), "long": random.randint(257, 400)}
    return extents.get(word) or 4 * random.randint(4, 16) + int(word[2:] or 0)


def _mask(word: str, scores: tuple[int, ...]) -> Form | None:
    shapes = {"whole": scores, "keys": scores[-1:], "queries": (scores[-2], 1), "rank0": ()}
    return Form(shapes[word]) if word in shapes else None


def _dense() -> Model:
    few = ("one", "few")
    numbers = (_MASK, _SCALE, _SOFTCAP, _CAUSAL, _CONTENTS)
    return Model(
        (_QUERIES, _KEYS, _DEPTH, _COLUMNS, _BATCH, _HEADS, *numbers, *starts(*NAMES), *MANNERS),
        (
            Never(
                {"heads": ("grouped", "one"), "batch": ("none", "deep")}, "there is one head, or heads are not the last"
            ),
            Never({"batch": ("deep",), "queries": ("long",)}, "rank 16 has elements enough"),
            Never({"batch": ("deep",), "keys": ("long",)}, "rank 16 has elements enough"),
            Never({"queries": ("long",), "keys": ("long",)}, "each is tried for itself"),
            Never({"contents": ("large",), "keys": few}, "scores so large are exact to no digits of theirs"),
            Never({"contents": ("large",), "scale": ("-1.5",)}, "scores so large are exact to no digits of theirs"),
            Never({"keys": few, "columns": few}, "few elements show no fault"),
            Never({"causal": ("behind",), "queries": few}, "few queries meet a key"),
            Never({"mask": ("queries",), "queries": few}, "few queries meet a key"),
        ),
    )


def _strided() -> Model:
    forms = formed(dict.fromkeys(NAMES, _FORMS))
    batch = Dimension("batch", ("two", "none", "one"))
    rule = Never({"heads": ("grouped", "one"), "batch": ("none",)}, "there is one head")
    dimensions = (batch, _HEADS, _MASK, _CAUSAL, *forms, *MANNERS)
    return Model(dimensions, (rule, not_all_dense(forms)))


def _offset() -> Model:
    mask = Dimension("mask", _MASK.values[:2])
    return Model((mask, *offsets(*NAMES), *starts(*NAMES), *MANNERS), (some_offset(*NAMES),))


def _empty() -> Model:
    usual = empty_model("queries", "columns", "batch")
    return Model((*usual.dimensions, Dimension("mask", _MASK.values[:2])))


_MODELS: Final[Mapping[str, Callable[[], Model]]] = {
    "dense": _dense,
    "strided": _strided,
    "offset": _offset,
    "empty": _empty,
}
