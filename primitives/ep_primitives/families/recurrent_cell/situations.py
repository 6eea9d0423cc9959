"""The situations of recurrent cells: extents, variants, activations, and how all operands lie; the same for every kind."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ep_primitives.families.recurrent_cell.gru_cell import GruCell
from ep_primitives.families.recurrent_cell.plans import Plan
from ep_primitives.situations.extents import drawer
from ep_primitives.situations.layouts import empty_model, formed, forms_of, not_all_dense, offsets, some_offset
from ep_primitives.situations.manner import MANNERS, STREAM, WAY, starts
from ep_primitives.situations.model import Dimension, Model, Never

if TYPE_CHECKING:
    from random import Random

    from ep_primitives.families.recurrent_cell.descriptor import RecurrentCell
    from ep_primitives.situations.family import Row

    Kind = type[RecurrentCell]

__all__ = ["planned", "recurrent_model", "usual_names"]

_EXTENTS: Final = ("4k1", "4k", "4k3", "one", "few", "long")
_ROWS, _WIDTH = Dimension("rows", _EXTENTS[:5]), Dimension("width", _EXTENTS)
_CONTENTS: Final = Dimension("contents", ("random", "saturated"))
_FORMS: Final = ("dense", "padded", "step", "negative", "permuted")
_ACTIVATION: Final = "_activation"


def usual_names(kind: Kind) -> tuple[str, ...]:
    """Return the operands that every cell of a kind has."""
    return tuple(role.name for role in kind.roles if not role.is_optional)


@cache
def recurrent_model(kind: Kind, layout: str) -> Model:
    """Return the model of a layout for a kind of cell."""
    names = usual_names(kind)
    variant = Dimension("variant", ("plain", "linear", "bias") if kind is GruCell else ("plain", "peephole"))
    if layout == "empty":
        return Model((variant, *empty_model("rows", "width").dimensions))
    if layout == "inplace":
        form = Dimension("form-c", _FORMS)
        apart = [name for name in names if name not in {"c", "c_next"}]
        return Model((form, _ROWS, _WIDTH, variant, *starts(*apart), WAY, STREAM))
    if layout == "strided":
        forms = formed(dict.fromkeys(names, _FORMS))
        few = Dimension("rows", ("4k1", "4k", "few")), Dimension("width", ("4k1", "4k", "few"))
        return Model((*forms, *few, variant, *starts(*names), *MANNERS), (not_all_dense(forms),))
    if layout == "offset":
        width = Dimension("width", ("4k1", "4k"))
        return Model((width, variant, *offsets(*names), *starts(*names), *MANNERS), (some_offset(*names),))
    words = tuple(
        Dimension(name.removesuffix(_ACTIVATION), ("usual", "sigmoid", "tanh", "relu"))
        for name in kind.words
        if name.endswith(_ACTIVATION)
    )
    usual = (Never({each.name: each.values[1:], "contents": ("saturated",)}, "infinite gates meet 0") for each in words)
    return Model((_ROWS, _WIDTH, variant, *words, _CONTENTS, *starts(*names), *MANNERS), tuple(usual))


def planned(kind: Kind, layout: str, row: Row, seed: int) -> Plan:
    """Return the plan of a situation."""
    random, situation = drawer(f"{seed} {layout} {row.text}"), row.situation
    count, width = (_extent(random, situation.get(name, "4k1")) for name in ("rows", "width"))
    if layout == "empty":
        count, width = (0, width) if situation["empty"] == "rows" else (count, 0)
    shapes = {name: shape for name, shape in kind.shapes(count, width).items() if name in usual_names(kind)}
    forms = {} if layout == "empty" else forms_of(random, situation, shapes)
    if layout == "inplace":
        forms["c_next"] = forms["c"]
    variant = situation["variant"]
    words: dict[str, Any] = {} if variant in {"plain", "peephole"} else {"linear_before_reset": True}
    words |= {
        f"{name}{_ACTIVATION}": word
        for name, word in situation.items()
        if f"{name}{_ACTIVATION}" in kind.words and word != "usual"
    }
    return Plan(
        "",
        count,
        width,
        has_more=variant in {"bias", "peephole"},
        words=words,
        forms=forms,
        contents=situation.get("contents", "random"),
        inplace=layout == "inplace",
    )


def _extent(random: Random, word: str) -> int:
    extents = {"one": 1, "few": random.randint(2, 3), "long": random.randint(257, 300)}
    return extents.get(word) or 4 * random.randint(2, 12) + int(word[2:] or 0)
