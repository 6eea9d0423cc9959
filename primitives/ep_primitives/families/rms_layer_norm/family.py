"""The cells of RmsLayerNorm, its cases, and what the suite judges it by."""

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
from ep_primitives.families.layer_norm.data import AFFINES
from ep_primitives.families.rms_layer_norm import reference as rms_layer_norm_reference
from ep_primitives.families.rms_layer_norm.descriptor import RmsLayerNorm
from ep_primitives.families.rms_layer_norm.plans import PLANS, ROWS
from ep_primitives.judging.accuracy import REPRESENTABLE
from ep_primitives.judging.layout import settled
from ep_primitives.judging.origin import row_index

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np

    from ep import Cell, Descriptor
    from ep_primitives.families.rms_layer_norm.plans import Plan
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference

__all__ = ["RmsLayerNormFamily"]


class RmsLayerNormFamily(SignatureFamily):
    """Each floating element type in each layout."""

    name: ClassVar[str] = "rms_layer_norm"
    descriptor: ClassVar[type[Descriptor]] = RmsLayerNorm
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

    def parts(self, descriptor: Any) -> Iterator[RmsLayerNorm]:
        """Yield single rows, and all but the first."""
        whole: RmsLayerNorm = descriptor
        for window in rows(whole.x.shape, range(whole.axis)):
            cut = {name: windowed(spec, window) for name, spec in (("x", whole.x), ("y", whole.out))}
            specs: dict[str, Any] = {**whole.present, **cut}
            yield RmsLayerNorm(**specs, axis=whole.axis, epsilon=whole.epsilon)

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


def _case(dtype: str, plan: Plan) -> Case:
    shape = plan.x.shape
    usual = {"x": plan.x, "y": plan.x if plan.inplace else Form(shape)}
    usual |= {"scale": Form(shape[plan.axis % max(len(shape), 1) :])} if plan.has_scale else {}
    specs: dict[str, Any] = {name: TensorSpec(dtype, *plan.forms.get(name, form)) for name, form in usual.items()}
    descriptor = RmsLayerNorm(**specs, axis=plan.axis, epsilon=plan.epsilon)
    return Case(
        plan.name,
        descriptor,
        partial(_data, descriptor, plan.contents),
        inplace="x" if plan.inplace else None,
        profile=plan.profile,
        shift=plan.shift * ep.dtype(dtype).itemsize,
        accuracy=REPRESENTABLE if plan.exact else None,
        fill="exact" if plan.exact else "random" if plan.contents == "random" else "designed",
    )


def _data(descriptor: RmsLayerNorm, contents: str, rng: np.random.Generator) -> dict[str, Any]:
    x, n = descriptor.x, descriptor.terms
    values = ROWS[contents](rng, x.dtype, x.size // n if n else 0, n)
    scale, _ = AFFINES["integral" if contents in {"halves", "special"} else "usual"](rng, x.dtype, n)
    present: Mapping[str, Any] = descriptor.present
    given = {"x": values, "scale": scale}
    return {name: settled(spec, given[name].reshape(spec.shape)) for name, spec in present.items() if name in given}
