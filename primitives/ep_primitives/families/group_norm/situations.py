"""The situations of GroupNorm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives.families.group_norm.plans import Plan
from ep_primitives.norms.situations import ABSENT, BESIDE, EPSILONS, NORM_ROWS, norm_forms, norm_model
from ep_primitives.situations.model import Dimension, Model, Never
from ep_primitives.situations.rows import LARGE, row_extent

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from ep_primitives.situations.model import Situation

__all__ = ["group_norm_model", "group_norm_plan"]

_GROUPS: Final = Dimension("groups", ("some", "one", "each"))
_SHAPE: Final = (NORM_ROWS, BESIDE, Dimension("rank", ("3", "2", "4", "16")))
_MORE: Final = (_GROUPS, Dimension("absent", tuple(ABSENT)), Dimension("epsilon", tuple(EPSILONS)))
_COLUMNS: Final[Mapping[str, bool]] = {"scale": False, "bias": False}


def group_norm_model(layout: str) -> Model:
    """Return the model of a layout."""
    model = norm_model(layout, _COLUMNS, _SHAPE, _MORE)
    if layout not in {"dense", "strided"}:
        return model
    alone = Never({"rank": ("2",), "groups": ("each",)}, "a group of one element is the bias, whatever x is")
    rows = Never({"rank": ("2",), "row": LARGE[:3], "groups": ("some",)}, "so many channels are in one group")
    deep = Never({"rank": ("16",), "groups": ("some",)}, "groups of some channels have 15 dimensions at most")
    wide = Never({"rank": ("4",), "row": ("past",)}, "rank 3 has elements enough")
    rules = (*model.rules, alone, rows, deep, wide)
    if layout == "strided":
        why = "a group of equal elements is the bias, whatever x is"
        equal = (
            Never({name: (word,), "form-x": ("zero-last",)}, why) for name, word in (("rank", "2"), ("groups", "each"))
        )
        rules = (*rules, *equal)
    return Model(model.dimensions, rules)


def group_norm_plan(layout: str, situation: Situation, random: Random) -> Plan:
    """Return the plan of a situation; of rank 2 a row is the channels of a group, else its innermost places."""
    word = situation.get("groups", "some")
    shape, groups = _emptied(situation) if layout == "empty" else _shaped(situation, word, random)
    column = shape[1:2]
    forms = norm_forms(random, situation, {"x": shape, "y": shape, "scale": column, "bias": column})
    is_inplace = layout == "inplace"
    x = forms.pop("x")
    return Plan(
        "",
        forms["y"] if is_inplace else x,
        groups,
        ABSENT[situation.get("absent", "none")],
        forms,
        epsilon=EPSILONS[situation.get("epsilon", "usual")],
        inplace=is_inplace,
    )


def _shaped(situation: Situation, word: str, random: Random) -> tuple[tuple[int, ...], int]:
    row, beside, rank = (situation.get(each.name, each.values[0]) for each in _SHAPE)
    most = 2 if row in LARGE or beside in LARGE else 8
    last = row_extent(random, row, most=most)
    samples = row_extent(random, beside, most=2)
    groups = {"some": 2, "one": 1, "each": 6}[word]
    if rank == "2":
        return (samples, groups * last), groups
    places = {"3": (), "4": (2,), "16": (1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 2, 1)}[rank]
    return (3 if rank == "16" else samples, 6, *places, last), groups


def _emptied(situation: Situation) -> tuple[tuple[int, ...], int]:
    return {"samples": ((0, 6, 5), 2), "inner": ((3, 6, 0), 2), "both": ((0, 6, 0), 1)}[situation["empty"]]
