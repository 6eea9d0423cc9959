"""The situations of RmsLayerNorm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives.families.rms_layer_norm.plans import Plan
from ep_primitives.norms.rows import FLAT, SHAPE, rows_shape
from ep_primitives.norms.situations import EPSILONS, norm_forms, norm_model
from ep_primitives.situations.model import Dimension

if TYPE_CHECKING:
    from random import Random

    from ep_primitives.situations.model import Model, Situation

__all__ = ["rms_layer_norm_model", "rms_layer_norm_plan"]

_MORE: Final = (Dimension("scale", ("there", "absent")), Dimension("epsilon", tuple(EPSILONS)))


def rms_layer_norm_model(layout: str) -> Model:
    """Return the model of a layout."""
    return norm_model(layout, {"scale": False}, SHAPE, _MORE, FLAT)


def rms_layer_norm_plan(layout: str, situation: Situation, random: Random) -> Plan:
    """Return the plan of a situation."""
    shape, axis = rows_shape(layout, situation, random)
    forms = norm_forms(random, situation, {"x": shape, "y": shape, "scale": shape[axis:] if shape else ()})
    is_inplace = layout == "inplace"
    x = forms.pop("x")
    return Plan(
        "",
        forms["y"] if is_inplace else x,
        axis - len(shape) if shape else -1,
        situation.get("scale", "there") == "there",
        forms,
        epsilon=EPSILONS[situation.get("epsilon", "usual")],
        inplace=is_inplace,
    )
