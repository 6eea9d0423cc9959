"""The situations of Matmul: extents, batches that repeat or are summed, the numbers, bias and activation, and how all lies."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from ep_primitives.cases.arrangement import Form
from ep_primitives.families.matmul.plans import Plan
from ep_primitives.situations.extents import by_rest, drawer
from ep_primitives.situations.forms import LINES, WRITTEN
from ep_primitives.situations.layouts import (
    empty_model,
    formed,
    forms_of,
    not_all_dense,
    offsets,
    some_offset,
)
from ep_primitives.situations.manner import MANNERS, starts
from ep_primitives.situations.model import Dimension, Model, Never

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from ep_primitives.situations.family import Row

__all__ = ["matmul_model", "planned"]

_NAMES: Final = ("a", "b", "out")
_EXTENTS: Final = ("4k1", "4k", "4k3", "one", "long")
_MKN: Final = tuple(Dimension(name, _EXTENTS) for name in "mkn")
_SOME: Final = tuple(Dimension(name, ("4k1", "4k", "few")) for name in "mkn")
_BATCH: Final = Dimension("batch", ("none", "one", "two", "deep", "many"), late=("many",))
_BIAS: Final = Dimension("bias", ("none", "row", "column", "one", "whole"))
_ALPHA: Final = Dimension("alpha", ("1", "0.75", "-2.5", "0"))
_BETA: Final = Dimension("beta", ("0", "1", "-1.5"))
_ACTIVATION: Final = Dimension("activation", ("none", "relu", "gelu", "tanh", "sigmoid", "silu"))
_READ: Final = ("dense", "padded", "step", "negative", "permuted", "windows")
_DEEP: Final = (1, 2, 1, 1, 3, 1, 1, 2, 1, 1, 2, 1, 1, 1)
_MANY: Final = 70001

_REPEATED: Final[Mapping[str, tuple[tuple[int, ...], ...]]] = {
    "one-a": ((), (4,), (4,)),
    "one-b": ((4,), (), (4,)),
    "first-of-a": ((2, 1, 3), (2, 4, 3), (2, 4, 3)),
    "first-of-b": ((2, 4, 3), (2, 1, 3), (2, 4, 3)),
    "outer": ((3, 1), (1, 4), (3, 4)),
    "out": ((), (1,), (3,)),
    "sum": ((5,), (5,), (1,)),
    "sum-to-a-matrix": ((2, 3), (2, 3), ()),
    "sum-of-one-a": ((), (5,), ()),
    "sum-inside": ((2, 3, 4), (2, 3, 4), (2, 1, 4)),
    "sum-outside": ((3, 4), (4,), (1, 4)),
    "sum-of-outer": ((3, 1), (1, 4), (3, 1)),
}
"""By name the batches of a, b and out."""


@cache
def matmul_model(layout: str) -> Model:
    """Return the model of a layout."""
    return _MODELS[layout]()


def planned(layout: str, row: Row, seed: int) -> Plan:
    """Return the plan of a situation."""
    random, situation = drawer(f"{seed} {layout} {row.text}"), row.situation
    if layout == "empty":
        return _empty(situation["empty"], random)
    most = 1 if situation.get("batch") == "many" else 16
    m, k, n = (_extent(random, situation[name], most) for name in "mkn")
    batches = (
        _REPEATED[situation["repeats"]] if layout == "broadcast" else (_batch(situation.get("batch", "none")),) * 3
    )
    shapes = {
        name: (*batch, *matrix) for name, batch, matrix in zip(_NAMES, batches, ((m, k), (k, n), (m, n)), strict=True)
    }
    alpha = float(situation.get("alpha", "1"))
    return Plan(
        "",
        **forms_of(random, situation, shapes),
        bias=_bias(situation.get("bias", "none"), shapes["out"]),
        alpha=alpha,
        beta=float(situation.get("beta", "0")),
        activation=situation.get("activation", "none"),
        contents="" if alpha else "unread-factors",
    )


def _extent(random: Random, word: str, most: int) -> int:
    """Return an extent of a matrix: the long ones are beyond a tile of 256.

    most : of the vectors of four in an extent that is named by its rest
    """
    extents = {"one": 1, "few": random.randint(2, 3), "long": random.randint(257, 520)}
    return extents.get(word) or by_rest(random, int(word[2:] or 0), most)


def _batch(word: str) -> tuple[int, ...]:
    return {"none": (), "one": (3,), "two": (3, 2), "deep": _DEEP, "many": (_MANY,)}[word]


def _bias(word: str, shape: tuple[int, ...]) -> Form | None:
    shapes = {"row": shape[-1:], "column": (shape[-2], 1), "one": (), "whole": shape}
    return Form(shapes[word]) if word in shapes else None


def _empty(word: str, random: Random) -> Plan:
    m, k, n = (0 if word == name else random.randint(2, 5) for name in ("rows", "depth", "columns"))
    batch = (0,) if word == "batches" else ()
    return Plan("", Form((*batch, m, k)), Form((k, n)), Form((*batch, m, n)))


_READS: Final = (Never({"alpha": ("0",), "beta": ("0",)}, "nothing would be read"),)


def _dense() -> Model:
    return Model(
        (*_MKN, _BATCH, _BIAS, _ALPHA, _BETA, _ACTIVATION, *starts(*_NAMES), *MANNERS),
        (
            *_READS,
            Never(dict.fromkeys("mkn", ("long",)), "each is tried for itself"),
            *(Never({"batch": ("two", "deep"), name: ("long",)}, "batches have elements enough") for name in "mkn"),
            *(
                Never(
                    {"batch": ("many",), name: _EXTENTS[:3] + _EXTENTS[4:]},
                    "70,001 batches are tried of single elements",
                )
                for name in "kn"
            ),
            Never({"batch": ("many",), "m": ("long",)}, "70,001 batches are tried of few elements each"),
        ),
    )


def _strided() -> Model:
    forms = formed({"a": _READ, "b": _READ, "out": WRITTEN})
    batch, bias = Dimension("batch", _BATCH.values[:4]), Dimension("bias", ("none", "row", "whole"))
    return Model(
        (*_SOME, batch, bias, _ALPHA, _BETA, *forms, *starts(*_NAMES), *MANNERS), (*_READS, not_all_dense(forms))
    )


def _broadcast() -> Model:
    forms = formed(dict.fromkeys(_NAMES, LINES))
    repeats, activation = Dimension("repeats", tuple(_REPEATED)), Dimension("activation", ("none", "relu"))
    bias = Dimension("bias", ("none", "row", "column"))
    return Model((repeats, *_SOME, bias, _ALPHA, _BETA, activation, *forms, *MANNERS), _READS)


def _offset() -> Model:
    forms = formed(dict.fromkeys(_NAMES, LINES))
    return Model((*_SOME, _BETA, *offsets(*_NAMES), *forms, *starts(*_NAMES), *MANNERS), (some_offset(*_NAMES),))


_MODELS: Final[Mapping[str, Callable[[], Model]]] = {
    "dense": _dense,
    "strided": _strided,
    "broadcast": _broadcast,
    "offset": _offset,
    "empty": lambda: empty_model("rows", "columns", "batches"),
}
