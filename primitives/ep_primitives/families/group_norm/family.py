"""The cells of GroupNorm, its cases, and how the suite judges it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ep import TensorSpec
from ep_primitives.cases.arrangement import Form
from ep_primitives.families.group_norm import reference as group_norm_reference
from ep_primitives.families.group_norm.descriptor import GroupNorm
from ep_primitives.families.group_norm.plans import PLANS
from ep_primitives.families.group_norm.situations import group_norm_model, group_norm_plan
from ep_primitives.families.layer_norm import reference as layer_norm_reference
from ep_primitives.families.layer_norm.data import AFFINES, ROWS
from ep_primitives.norms.family import NormFamily

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from random import Random

    import numpy as np

    from ep import Descriptor
    from ep_primitives.families.group_norm.plans import Plan
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference
    from ep_primitives.situations.model import Model, Situation

__all__ = ["GroupNormFamily"]


class GroupNormFamily(NormFamily):
    """Each floating element type in each layout."""

    name: ClassVar[str] = "group_norm"
    descriptor: ClassVar[type[Descriptor]] = GroupNorm
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)
    plans: ClassVar[Any] = PLANS

    def described(self, dtype: str, plan: Plan) -> GroupNorm:
        """Return the descriptor of a plan."""
        column = Form((plan.x.shape[1],))
        usual = {"x": plan.x, "scale": column, "bias": column, "y": plan.x if plan.inplace else Form(plan.x.shape)}
        specs: dict[str, Any] = {
            name: TensorSpec(dtype, *plan.forms.get(name, form))
            for name, form in usual.items()
            if name not in plan.absent
        }
        return GroupNorm(**specs, groups=plan.groups, epsilon=plan.epsilon)

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return group_norm_model(layout)

    def planned(self, layout: str, situation: Situation, random: Random) -> Plan:
        """Return the plan of a situation."""
        return group_norm_plan(layout, situation, random)

    def values(self, descriptor: Any, contents: Any, rng: np.random.Generator) -> Mapping[str, Any]:
        """Return groups of one kind, and columns of another."""
        x, dtype = descriptor.x, descriptor.x.dtype
        number = x.shape[0] * descriptor.groups
        groups = ROWS[contents[0]](rng, dtype, number, x.size // number if number else 0)
        columns = dict(zip(("scale", "bias"), AFFINES[contents[1]](rng, dtype, x.shape[1]), strict=True))
        return {"x": groups.reshape(x.shape), **columns}

    def across(self, descriptor: Any) -> Iterable[int]:
        """Return the dimension of the samples."""
        del descriptor
        return (0,)

    def is_constant(self, descriptor: Any) -> bool:
        """Return True if y is the bias for any x: in groups of one element."""
        whole: GroupNorm = descriptor
        return whole.x.size == whole.x.shape[0] * whole.groups

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the group of x, and the channel's scale and bias."""
        del output
        whole: GroupNorm = descriptor
        each = whole.x.shape[1] // whole.groups
        first = at[1] // each * each
        group: Index = (at[0], slice(first, first + each), *(slice(None),) * (whole.x.ndim - 2))
        return {"x": group, **{name: (at[1],) for name in ("scale", "bias") if name in inputs}}

    def reference(self, descriptor: Any, inputs: dict[str, Any]) -> Reference:
        """Return the definition in a wider type, with S."""
        return group_norm_reference.reference(descriptor, inputs)

    def accuracy(self, descriptor: Descriptor) -> Accuracy:  # noqa: ARG002 - the extent of a group is in S
        """Return the bound over S, LayerNorm's."""
        return layer_norm_reference.BOUND
