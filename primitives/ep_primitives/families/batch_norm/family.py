"""The cells of BatchNorm, its cases, and how the suite judges it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ep import TensorSpec
from ep_primitives.cases.arrangement import Form
from ep_primitives.families.batch_norm import reference as batch_norm_reference
from ep_primitives.families.batch_norm.data import CONTENTS
from ep_primitives.families.batch_norm.descriptor import BatchNorm
from ep_primitives.families.batch_norm.plans import PLANS
from ep_primitives.families.batch_norm.situations import batch_norm_model, batch_norm_plan
from ep_primitives.norms.family import NormFamily

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from random import Random

    import numpy as np

    from ep import Descriptor
    from ep_primitives.families.batch_norm.plans import Plan
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference
    from ep_primitives.situations.model import Model, Situation

__all__ = ["BatchNormFamily"]


class BatchNormFamily(NormFamily):
    """Each floating element type in each layout."""

    name: ClassVar[str] = "batch_norm"
    descriptor: ClassVar[type[Descriptor]] = BatchNorm
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)
    plans: ClassVar[Any] = PLANS

    def described(self, dtype: str, plan: Plan) -> BatchNorm:
        """Return the descriptor of a plan."""
        column = Form((plan.x.shape[plan.axis],))
        usual = {"x": plan.x, **dict.fromkeys(("mean", "variance", "scale", "bias"), column)}
        usual["y"] = plan.x if plan.inplace else Form(plan.x.shape)
        specs: dict[str, Any] = {
            name: TensorSpec(dtype, *plan.forms.get(name, form))
            for name, form in usual.items()
            if name not in plan.absent
        }
        return BatchNorm(**specs, axis=plan.axis, epsilon=plan.epsilon)

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return batch_norm_model(layout)

    def planned(self, layout: str, situation: Situation, random: Random) -> Plan:
        """Return the plan of a situation."""
        return batch_norm_plan(layout, situation, random)

    def values(self, descriptor: Any, contents: Any, rng: np.random.Generator) -> Mapping[str, Any]:
        """Return the contents of the inputs."""
        return CONTENTS[contents](rng, descriptor)

    def across(self, descriptor: Any) -> Iterable[int]:
        """Return all dimensions but the channels', whose mean and variance are given."""
        return (axis for axis in range(descriptor.x.ndim) if axis != descriptor.axis)

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the element of x, and the numbers of its channel."""
        del output
        whole: BatchNorm = descriptor
        return {name: at if name == "x" else (at[whole.axis],) for name in inputs}

    def reference(self, descriptor: Any, inputs: dict[str, Any]) -> Reference:
        """Return the definition in a wider type, with S."""
        return batch_norm_reference.reference(descriptor, inputs)

    def accuracy(self, descriptor: Descriptor) -> Accuracy:  # noqa: ARG002 - all is in S
        """Return the bound over S."""
        return batch_norm_reference.BOUND
