"""The situations of LayerNorm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives.families.layer_norm.plans import OUTPUTS, Plan
from ep_primitives.norms.rows import FLAT, SHAPE, rows_shape
from ep_primitives.norms.situations import ABSENT, EPSILONS, norm_forms, norm_model
from ep_primitives.situations.extents import drawer
from ep_primitives.situations.model import Dimension, Model, Never

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_primitives.situations.family import Row

__all__ = ["layer_norm_model", "layer_norm_plan"]

_MORE: Final = (
    Dimension("absent", tuple(ABSENT)),
    Dimension("epsilon", tuple(EPSILONS)),
    Dimension("kept", ("yes", "no")),
)
"""Kept: whether mean and rstd keep the dimensions of a row."""
_COLUMNS: Final[Mapping[str, bool]] = {"scale": False, "bias": False, "mean": True, "rstd": True}


def layer_norm_model(layout: str) -> Model:
    """Return the model of a layout."""
    model = norm_model(layout, _COLUMNS, SHAPE, _MORE, FLAT)
    if layout != "strided":
        return model
    equal = Never({"form-x": ("zero-last",), "absent": ("bias", "both")}, "rows of equal elements are the bias")
    one = Never(
        {"form-x": ("zero-last",), "form-bias": ("zero-last",)}, "rows of equal elements are the bias, one number"
    )
    same = Never({"form-x": ("zero-first",), "rank": ("2",)}, "equal rows have one mean")
    return Model(model.dimensions, (*model.rules, equal, one, same))


def layer_norm_plan(layout: str, row: Row, seed: int, count: int) -> Plan:
    """Return the plan of a situation for so many outputs."""
    random, situation = drawer(f"{seed} {layout} {row.text}"), row.situation
    shape, axis = rows_shape(layout, situation, random)
    kept = shape[:axis] + (1,) * (len(shape) - axis) if situation.get("kept", "yes") == "yes" else shape[:axis]
    shapes = {"x": shape, "y": shape, **dict.fromkeys(("scale", "bias"), shape[axis:])}
    forms = norm_forms(random, situation, {**shapes, "mean": kept, "rstd": kept})
    is_inplace, x = layout == "inplace", forms.pop("x")
    return Plan(
        "",
        forms["y"] if is_inplace else x,
        axis - len(shape) if shape else -1,
        OUTPUTS[:count],
        ABSENT[situation.get("absent", "none")],
        forms,
        epsilon=EPSILONS[situation.get("epsilon", "usual")],
        inplace=is_inplace,
    )
