"""The situations of BatchNorm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives.families.batch_norm.plans import Plan
from ep_primitives.norms.situations import ABSENT, BESIDE, EPSILONS, NORM_ROWS, norm_forms, norm_model
from ep_primitives.situations.model import Dimension, Model, Never
from ep_primitives.situations.rows import LARGE, row_extent

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from ep_primitives.situations.model import Situation

__all__ = ["batch_norm_model", "batch_norm_plan"]

_SHAPE: Final = (NORM_ROWS, BESIDE, Dimension("rank", ("3", "1", "2", "4", "16")))
_AXIS: Final = Dimension("axis", ("second", "last", "first"))
_MORE: Final = (_AXIS, Dimension("absent", tuple(ABSENT)), Dimension("epsilon", tuple(EPSILONS)))
_COLUMNS: Final[Mapping[str, bool]] = {"scale": False, "bias": False, "mean": False, "variance": False}


def batch_norm_model(layout: str) -> Model:
    """Return the model of a layout."""
    model = norm_model(layout, _COLUMNS, _SHAPE, _MORE, {"rank": "1"})
    if layout not in {"dense", "strided"}:
        return model
    alone = Never({"rank": ("1",), "axis": ("second", "first")}, "rank 1 has one axis")
    wide = Never({"rank": ("4",), "row": ("past",)}, "rank 3 has elements enough")
    return Model(model.dimensions, (*model.rules, alone, wide))


def batch_norm_plan(layout: str, situation: Situation, random: Random) -> Plan:
    """Return the plan of a situation: the innermost extent is its row's."""
    word = situation.get("axis", "second")
    shape = _emptied(situation) if layout == "empty" else _shaped(situation, random)
    axis = {"second": 1, "last": -1, "first": 0}[word]
    names = ("scale", "bias", "mean", "variance")
    forms = norm_forms(random, situation, {"x": shape, "y": shape, **dict.fromkeys(names, (shape[axis],))})
    is_inplace = layout == "inplace"
    x = forms.pop("x")
    return Plan(
        "",
        forms["y"] if is_inplace else x,
        axis,
        ABSENT[situation.get("absent", "none")],
        forms,
        epsilon=EPSILONS[situation.get("epsilon", "usual")],
        inplace=is_inplace,
    )


def _shaped(situation: Situation, random: Random) -> tuple[int, ...]:
    row, beside, rank = (situation.get(each.name, each.values[0]) for each in _SHAPE)
    most = 2 if row in LARGE or beside in LARGE else 8
    last = row_extent(random, row, most=most)
    channels = row_extent(random, beside, most=4)
    if rank == "16":
        return (3, 5, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 2, 1, last)
    return {"1": (last,), "2": (channels, last), "3": (2, channels, last), "4": (2, channels, 2, last)}[rank]


def _emptied(situation: Situation) -> tuple[int, ...]:
    return {"samples": (0, 6, 5), "inner": (3, 6, 0), "both": (0, 6, 0)}[situation["empty"]]
