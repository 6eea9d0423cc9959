"""The cells of GroupNorm, its cases, and what the suite judges it by."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import ep
from ep import TensorSpec
from ep_primitives.cases.arrangement import Form
from ep_primitives.cases.case import Case
from ep_primitives.cases.signature import Signature, SignatureFamily
from ep_primitives.descriptors.window import rows, windowed
from ep_primitives.elementwise.op import FLOATS
from ep_primitives.families.group_norm import reference as group_norm_reference
from ep_primitives.families.group_norm.descriptor import GroupNorm
from ep_primitives.families.group_norm.plans import PLANS
from ep_primitives.families.layer_norm import reference as layer_norm_reference
from ep_primitives.families.layer_norm.data import AFFINES, ROWS
from ep_primitives.judging.accuracy import LISTED, REPRESENTABLE
from ep_primitives.judging.layout import settled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np

    from ep import Cell, Descriptor
    from ep_primitives.families.group_norm.plans import Plan
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference

__all__ = ["GroupNormFamily"]


class GroupNormFamily(SignatureFamily):
    """Each floating element type in each layout."""

    name: ClassVar[str] = "group_norm"
    descriptor: ClassVar[type[Descriptor]] = GroupNorm
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)

    def signatures(self) -> Iterator[Signature]:
        """Yield every floating element type."""
        return (Signature("-", (dtype,), dtype) for dtype in FLOATS)

    def since(self, cell: Cell) -> str:  # noqa: ARG002 - the interface is ep.Family's
        """Return the suite version that first held the family."""
        return "1.1"

    def cases_of(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases of an element type in a layout."""
        for plan in PLANS[layout]():
            if not plan.dtypes or signature.out in plan.dtypes:
                yield _case(signature.out, plan)

    def is_constant(self, descriptor: Any) -> bool:
        """Say whether y is the bias whatever x holds: in groups of one element."""
        whole: GroupNorm = descriptor
        return whole.x.size == whole.x.shape[0] * whole.groups

    def parts(self, descriptor: Any) -> Iterator[GroupNorm]:
        """Yield single samples, and all but the first."""
        whole: GroupNorm = descriptor
        for window in rows(whole.x.shape, (0,)):
            cut = {name: windowed(spec, window) for name, spec in (("x", whole.x), ("y", whole.out))}
            specs: dict[str, Any] = {**whole.present, **cut}
            yield GroupNorm(**specs, groups=whole.groups, epsilon=whole.epsilon)

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
        """Return the bound over S, that of LayerNorm."""
        return layer_norm_reference.BOUND


def _case(dtype: str, plan: Plan) -> Case:
    column = Form((plan.x.shape[1],))
    usual = {"x": plan.x, "scale": column, "bias": column, "y": plan.x if plan.inplace else Form(plan.x.shape)}
    specs: dict[str, Any] = {
        name: TensorSpec(dtype, *plan.forms.get(name, form)) for name, form in usual.items() if name not in plan.absent
    }
    descriptor = GroupNorm(**specs, groups=plan.groups, epsilon=plan.epsilon)
    exact = LISTED if plan.contents[0] == "special" else REPRESENTABLE
    return Case(
        plan.name,
        descriptor,
        partial(_data, descriptor, plan.contents),
        inplace="x" if plan.inplace else None,
        profile=plan.profile,
        shift=plan.shift * ep.dtype(dtype).itemsize,
        accuracy=exact if plan.exact else None,
        fill="exact" if plan.exact else "random" if plan.contents == ("random", "usual") else "designed",
    )


def _data(descriptor: GroupNorm, contents: tuple[str, str], rng: np.random.Generator) -> dict[str, Any]:
    x, dtype = descriptor.x, descriptor.x.dtype
    number = x.shape[0] * descriptor.groups
    groups = ROWS[contents[0]](rng, dtype, number, x.size // number if number else 0)
    columns = dict(zip(("scale", "bias"), AFFINES[contents[1]](rng, dtype, x.shape[1]), strict=True))
    given = {"x": groups.reshape(x.shape), **{name: columns[name] for name, _ in descriptor.factors}}
    present: Mapping[str, Any] = descriptor.present
    return {name: settled(present[name], array) for name, array in given.items()}
