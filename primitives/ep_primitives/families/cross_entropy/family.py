"""The cells of CrossEntropy, its cases, and how the suite judges it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ep import TensorSpec
from ep_primitives.cases.arrangement import Form
from ep_primitives.cases.case import Case
from ep_primitives.cases.signature import Signature
from ep_primitives.descriptors.window import rows, windowed
from ep_primitives.elementwise.op import FLOATS
from ep_primitives.families.cross_entropy import reference as cross_entropy_reference
from ep_primitives.families.cross_entropy.data import drawn
from ep_primitives.families.cross_entropy.descriptor import CrossEntropy
from ep_primitives.families.cross_entropy.plans import PLANS
from ep_primitives.families.cross_entropy.situations import cross_entropy_model, cross_entropy_plan
from ep_primitives.families.gather.descriptor import INDEX_DTYPES
from ep_primitives.judging.accuracy import REPRESENTABLE
from ep_primitives.judging.layout import settled
from ep_primitives.situations.family import SituatedFamily

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    import numpy as np

    from ep import Cell, Descriptor
    from ep_primitives.families.cross_entropy.plans import Plan
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Model

__all__ = ["CrossEntropyFamily"]

_VALUED: Final = ("float32", "int64")
"""The element types whose cases about values are quick."""


class CrossEntropyFamily(SituatedFamily):
    """Each floating element type with each of labels, in each layout."""

    name: ClassVar[str] = "cross_entropy"
    descriptor: ClassVar[type[Descriptor]] = CrossEntropy
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)

    def signatures(self) -> Iterator[Signature]:
        """Yield every pair of element types."""
        return (Signature("-", (dtype, labels), dtype) for dtype in FLOATS for labels in INDEX_DTYPES)

    def since(self, cell: Cell) -> str:  # noqa: ARG002 - the interface is ep.Family's
        """Return the suite version that first held the family."""
        return "1.1"

    def cases_of(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases of two element types in a layout; of float32 those about values in profile quick, too."""
        plans = [plan for plan in PLANS[layout]() if not plan.dtypes or signature.out in plan.dtypes]
        about_values = [plan for plan in plans if signature.inputs == _VALUED and plan.contents != ("random", "random")]
        yield from (_made(signature, plan) for plan in about_values)
        yield from self.constructed(signature, layout)
        yield from (_made(signature, plan).late() for plan in plans if plan not in about_values)

    def has(self, signature: Signature, layout: str) -> bool:  # noqa: ARG002 - the interface is SignatureFamily's
        """Say yes: every signature has every layout."""
        return True

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return cross_entropy_model(layout)

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        return _made(signature, cross_entropy_plan(layout, row, seed))

    def kernel(self, signature: Signature) -> Hashable:  # noqa: ARG002 - the interface is SituatedFamily's
        """Return one for all: the element types meet the situations in turn."""
        return None

    def named(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """Return the operands with their element types."""
        dtype, labels = signature.inputs
        return (("x", dtype), ("labels", labels), ("weights", dtype), ("out", dtype))

    def is_constant(self, descriptor: Any) -> bool:
        """Return True if out is 0 or NaN for any operands: the logarithm of the only class is 0."""
        whole: CrossEntropy = descriptor
        classes = whole.x.shape[1]
        return not classes or not whole.labels.size or (classes == 1 and not whole.is_log)

    def parts(self, descriptor: Any) -> Iterator[CrossEntropy]:
        """Yield, if losses are not joined, the losses of single places, and of all but the first."""
        whole: CrossEntropy = descriptor
        if whole.reduction != "none":
            return
        for window in rows(whole.labels.shape, range(whole.labels.ndim)):
            cut = {name: windowed(getattr(whole, name), window) for name in ("labels", "out")}
            cut["x"] = windowed(whole.x, (window[0], (0, whole.x.shape[1]), *window[1:]))
            specs: dict[str, Any] = {**whole.present, **cut}
            words: dict[str, Any] = {name: getattr(whole, name) for name in whole.words}
            yield CrossEntropy(**specs, **words)

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the row of x, its label and the weights; all of them for a sum or a mean."""
        del output
        whole: CrossEntropy = descriptor
        every = slice(None)
        places: Index = at if whole.reduction == "none" else (every,) * whole.labels.ndim
        found: dict[str, Index] = {"x": (places[0], every, *places[1:]), "labels": places, "weights": (every,)}
        return {name: index for name, index in found.items() if name in inputs}

    def reference(self, descriptor: Any, inputs: dict[str, Any]) -> Reference:
        """Return the definition in a wider type, with S."""
        return cross_entropy_reference.reference(descriptor, inputs)

    def accuracy(self, descriptor: Descriptor) -> Accuracy:  # noqa: ARG002 - the extents are in S
        """Return the bound over S."""
        return cross_entropy_reference.BOUND


def _made(signature: Signature, plan: Plan) -> Case:
    shape, (dtype, labels) = plan.x.shape, signature.inputs
    samples = (shape[0], *shape[2:])
    usual = {"x": plan.x, "labels": Form(samples)}
    usual |= {"weights": Form(shape[1:2])} if plan.has_weights else {}
    usual["out"] = Form(samples if plan.reduction == "none" else ())
    specs: dict[str, Any] = {
        name: TensorSpec(labels if name == "labels" else dtype, *plan.forms.get(name, form))
        for name, form in usual.items()
    }
    words: dict[str, Any] = {name: getattr(plan, name) for name in CrossEntropy.words}
    descriptor = CrossEntropy(**specs, **words)
    return Case(
        plan.name,
        descriptor,
        partial(_data, descriptor, plan.contents),
        profile=plan.profile,
        shift=plan.shift,
        accuracy=REPRESENTABLE if plan.exact else None,
        fill="exact" if plan.exact else "random" if plan.contents[0] == "random" else "designed",
    )


def _data(descriptor: CrossEntropy, contents: tuple[str, str], rng: np.random.Generator) -> dict[str, Any]:
    present: Mapping[str, Any] = descriptor.present
    return {name: settled(present[name], array) for name, array in drawn(descriptor, contents, rng).items()}
