"""The cells of Attention, its cases, and how the suite judges it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import ep
from ep import TensorSpec
from ep_primitives.cases.case import Case
from ep_primitives.cases.signature import Signature
from ep_primitives.elementwise.op import FLOATS
from ep_primitives.families.attention import reference as attention_reference
from ep_primitives.families.attention.data import CONTENTS
from ep_primitives.families.attention.descriptor import Attention
from ep_primitives.families.attention.plans import PLANS
from ep_primitives.families.attention.situations import NAMES, UNMASKED, attention_model, planned
from ep_primitives.judging.accuracy import LISTED, REPRESENTABLE
from ep_primitives.judging.layout import settled
from ep_primitives.judging.origin import broadcast_index
from ep_primitives.situations.planned import PlannedFamily

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    import numpy as np

    from ep import Cell, Descriptor
    from ep_primitives.families.attention.plans import Plan
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Model

__all__ = ["AttentionFamily"]


class AttentionFamily(PlannedFamily):
    """Each floating element type in each layout, without a mask or with one of its own, and with a mask of bools."""

    name: ClassVar[str] = "attention"
    descriptor: ClassVar[type[Descriptor]] = Attention
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)
    early: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "rows": ("float32",),
        "grouped": ("float32",),
        "causal+32": ("float32",),
        "causal-4": ("float32",),
        "large": ("float32", "float16"),
        "softcap-large": ("float32",),
        "same-sign": ("float32", "bfloat16"),
        "chosen": ("float32",),
        "chosen-causal": ("float32",),
        "chosen-grouped": ("float32",),
        "not-finite": ("float32", "bfloat16"),
        "nan-keys": ("float32",),
        "no-keys": ("float32",),
    }

    def signatures(self) -> Iterator[Signature]:
        """Yield every floating element type, alone and beside a mask of bools."""
        for dtype in FLOATS:
            yield Signature("-", (dtype,), dtype)
            yield Signature("-", (dtype, "bool"), dtype)

    def since(self, cell: Cell) -> str:  # noqa: ARG002 - the interface is ep.Family's
        """Return the suite version that first held the family."""
        return "1.1"

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return attention_model(layout)

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        return _case(signature, planned(layout, row, seed))

    def kernel(self, signature: Signature) -> Hashable:
        """Return whether there is a mask of bools."""
        return len(signature.inputs)

    def lacks(self, signature: Signature, layout: str) -> Mapping[str, Sequence[str]]:  # noqa: ARG002 - all layouts have it
        """Return that a mask of bools is there."""
        return {} if len(signature.inputs) == 1 else {"mask": (UNMASKED,)}

    def named(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """Return the tensors that every case has, with their element types."""
        return tuple((name, signature.out) for name in NAMES)

    def by_hand(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases by hand of an element type in a layout; of a mask of bools those that have a mask."""
        for plan in PLANS[layout]():
            has_dtype = not plan.dtypes or signature.out in plan.dtypes
            if has_dtype and (plan.mask is not None or len(signature.inputs) == 1):
                yield _case(signature, plan)

    def is_constant(self, descriptor: Any) -> bool:
        """Return True if out is 0 for any operands: causality leaves every key out, or there is none."""
        whole: Attention = descriptor
        queries, keys = whole.scores[-2:]
        return not keys or (whole.is_causal and queries + whole.offset <= 0)

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the row of q, the keys of its head, a column of their values, and the row of the mask."""
        del inputs, output
        whole: Attention = descriptor
        *batch, row, column = at
        kept = (*batch[:-1], batch[-1] // whole.groups) if batch else ()
        every = slice(None)
        found: dict[str, Index] = {"q": (*batch, row, every), "k": (*kept, every, every), "v": (*kept, every, column)}
        if whole.mask is not None:
            met = broadcast_index(whole.mask.shape, (*batch, row, 0))
            found["mask"] = (*met[:-1], every) if met else ()
        return found

    def reference(self, descriptor: Any, inputs: dict[str, Any]) -> Reference:
        """Return the definition in a wider type, with S."""
        return attention_reference.reference(descriptor, inputs)

    def accuracy(self, descriptor: Descriptor) -> Accuracy:  # noqa: ARG002 - the extents are in S
        """Return the bound over S."""
        return attention_reference.BOUND


def _case(signature: Signature, plan: Plan) -> Case:
    dtype = signature.out
    tensors: dict[str, Any] = {name: TensorSpec(dtype, *getattr(plan, name)) for name in ("q", "k", "v", "out")}
    mask = None if plan.mask is None else TensorSpec(signature.inputs[-1], *plan.mask)
    words: dict[str, Any] = {name: getattr(plan, name) for name in Attention.words}
    descriptor = Attention(**tensors, mask=mask, **words)
    exact = REPRESENTABLE if plan.contents == "chosen" else LISTED
    return Case(
        plan.name,
        descriptor,
        partial(_data, descriptor, plan.contents),
        profile=plan.profile,
        shift=plan.shift * ep.dtype(dtype).itemsize,
        accuracy=exact if plan.exact else None,
        fill="exact" if plan.exact else "random" if plan.contents == "random" else "designed",
    )


def _data(descriptor: Attention, contents: str, rng: np.random.Generator) -> dict[str, Any]:
    found = CONTENTS[contents](rng, descriptor)
    present: Mapping[str, Any] = descriptor.present
    return {name: settled(present[name], array) for name, array in found.items()}
