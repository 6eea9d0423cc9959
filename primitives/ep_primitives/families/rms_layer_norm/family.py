"""The cells of RmsLayerNorm, its cases, and how the suite judges it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ep import TensorSpec
from ep_primitives.cases.arrangement import Form
from ep_primitives.families.layer_norm.data import AFFINES
from ep_primitives.families.rms_layer_norm import reference as rms_layer_norm_reference
from ep_primitives.families.rms_layer_norm.descriptor import RmsLayerNorm
from ep_primitives.families.rms_layer_norm.plans import PLANS, ROWS
from ep_primitives.families.rms_layer_norm.situations import rms_layer_norm_model, rms_layer_norm_plan
from ep_primitives.judging.origin import row_index
from ep_primitives.norms.family import NormFamily

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from random import Random

    import numpy as np

    from ep import Descriptor
    from ep_primitives.families.rms_layer_norm.plans import Plan
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference
    from ep_primitives.situations.model import Model, Situation

__all__ = ["RmsLayerNormFamily"]


class RmsLayerNormFamily(NormFamily):
    """Each floating element type in each layout."""

    name: ClassVar[str] = "rms_layer_norm"
    descriptor: ClassVar[type[Descriptor]] = RmsLayerNorm
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)
    plans: ClassVar[Any] = PLANS

    def described(self, dtype: str, plan: Plan) -> RmsLayerNorm:
        """Return the descriptor of a plan."""
        shape = plan.x.shape
        usual = {"x": plan.x, "y": plan.x if plan.inplace else Form(shape)}
        usual |= {"scale": Form(shape[plan.axis % max(len(shape), 1) :])} if plan.has_scale else {}
        specs: dict[str, Any] = {name: TensorSpec(dtype, *plan.forms.get(name, form)) for name, form in usual.items()}
        return RmsLayerNorm(**specs, axis=plan.axis, epsilon=plan.epsilon)

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return rms_layer_norm_model(layout)

    def planned(self, layout: str, situation: Situation, random: Random) -> Plan:
        """Return the plan of a situation."""
        return rms_layer_norm_plan(layout, situation, random)

    def values(self, descriptor: Any, contents: Any, rng: np.random.Generator) -> Mapping[str, Any]:
        """Return rows, and a scale for their columns."""
        x, n = descriptor.x, descriptor.terms
        found = ROWS[contents](rng, x.dtype, x.size // n if n else 0, n)
        scale, _ = AFFINES["integral" if contents in {"halves", "special"} else "usual"](rng, x.dtype, n)
        return {"x": found.reshape(x.shape), "scale": scale.reshape(x.shape[descriptor.axis :])}

    def across(self, descriptor: Any) -> Iterable[int]:
        """Return the dimensions that number the rows."""
        return range(descriptor.axis)

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the row of x, and the element of scale."""
        del output
        whole: RmsLayerNorm = descriptor
        found: dict[str, Index] = {"x": row_index(whole.x.ndim, range(whole.axis, whole.x.ndim), at)}
        return found | ({"scale": at[whole.axis :]} if "scale" in inputs else {})

    def reference(self, descriptor: Any, inputs: dict[str, Any]) -> Reference:
        """Return the definition in a wider type, with S."""
        return rms_layer_norm_reference.reference(descriptor, inputs)

    def accuracy(self, descriptor: Descriptor) -> Accuracy:  # noqa: ARG002 - the extent of a row is in S
        """Return the bound over S."""
        return rms_layer_norm_reference.BOUND
