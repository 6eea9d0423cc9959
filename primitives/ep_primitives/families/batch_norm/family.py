"""The cells of BatchNorm, its cases, and what the suite judges it by."""

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
from ep_primitives.families.batch_norm import reference as batch_norm_reference
from ep_primitives.families.batch_norm.data import CONTENTS
from ep_primitives.families.batch_norm.descriptor import BatchNorm
from ep_primitives.families.batch_norm.plans import PLANS
from ep_primitives.judging.accuracy import LISTED, REPRESENTABLE
from ep_primitives.judging.layout import settled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np

    from ep import Cell, Descriptor
    from ep_primitives.families.batch_norm.plans import Plan
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference

__all__ = ["BatchNormFamily"]


class BatchNormFamily(SignatureFamily):
    """Each floating element type in each layout."""

    name: ClassVar[str] = "batch_norm"
    descriptor: ClassVar[type[Descriptor]] = BatchNorm
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

    def parts(self, descriptor: Any) -> Iterator[BatchNorm]:
        """Yield what lies along the channels at one place of all other dimensions, and all but the first."""
        whole: BatchNorm = descriptor
        for window in rows(whole.x.shape, [axis for axis in range(whole.x.ndim) if axis != whole.axis]):
            cut = {name: windowed(spec, window) for name, spec in (("x", whole.x), ("y", whole.out))}
            specs: dict[str, Any] = {**whole.present, **cut}
            yield BatchNorm(**specs, axis=whole.axis, epsilon=whole.epsilon)

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


def _case(dtype: str, plan: Plan) -> Case:
    column = Form((plan.x.shape[plan.axis],))
    usual = {"x": plan.x, **dict.fromkeys(("mean", "variance", "scale", "bias"), column)}
    usual["y"] = plan.x if plan.inplace else Form(plan.x.shape)
    specs: dict[str, Any] = {
        name: TensorSpec(dtype, *plan.forms.get(name, form)) for name, form in usual.items() if name not in plan.absent
    }
    descriptor = BatchNorm(**specs, axis=plan.axis, epsilon=plan.epsilon)
    exact = LISTED if plan.contents == "special" else REPRESENTABLE
    return Case(
        plan.name,
        descriptor,
        partial(_data, descriptor, plan.contents),
        inplace="x" if plan.inplace else None,
        profile=plan.profile,
        shift=plan.shift * ep.dtype(dtype).itemsize,
        accuracy=exact if plan.exact else None,
        fill="exact" if plan.exact else "random" if plan.contents == "random" else "designed",
    )


def _data(descriptor: BatchNorm, contents: str, rng: np.random.Generator) -> dict[str, Any]:
    found = CONTENTS[contents](rng, descriptor)
    present: Mapping[str, Any] = descriptor.present
    return {name: settled(present[name], array) for name, array in found.items()}
