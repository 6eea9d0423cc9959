"""NormFamily: the cells and the cases of a norm; its own folder has the plans and the data."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from ep_primitives.cases.case import Case
from ep_primitives.cases.signature import Signature
from ep_primitives.descriptors.window import rows, windowed
from ep_primitives.elementwise.op import FLOATS
from ep_primitives.judging.accuracy import LISTED, REPRESENTABLE
from ep_primitives.judging.layout import settled
from ep_primitives.situations.extents import drawer
from ep_primitives.situations.family import SituatedFamily

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
    from random import Random

    import numpy as np

    from ep import Cell
    from ep_primitives.norms.norm import Norm
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Situation

__all__ = ["NormFamily"]


class NormFamily(SituatedFamily):
    """Each floating element type in each layout.

    plans : by layout, what makes its plans: with a name, contents, `exact`, `inplace`, `shift`, a profile, and the element types
            that have them, of which none are all
    """

    plans: ClassVar[Mapping[str, Callable[[], Iterator[Any]]]]

    @abstractmethod
    def described(self, dtype: str, plan: Any) -> Norm:
        """Return the descriptor of a plan."""

    @abstractmethod
    def planned(self, layout: str, situation: Situation, random: Random) -> Any:
        """Return the plan of a situation."""

    @abstractmethod
    def values(self, descriptor: Any, contents: Any, rng: np.random.Generator) -> Mapping[str, Any]:
        """Return the contents of the inputs, by name: arrays of the shape of their specs."""

    @abstractmethod
    def across(self, descriptor: Any) -> Iterable[int]:
        """Return the dimensions of x that number the parts that are normalised separately."""

    def signatures(self) -> Iterator[Signature]:
        """Yield every floating element type."""
        return (Signature("-", (dtype,), dtype) for dtype in FLOATS)

    def since(self, cell: Cell) -> str:  # noqa: ARG002 - the interface is ep.Family's
        """Return the suite version that first held the family."""
        return "1.1"

    def cases_of(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases of an element type in a layout: of float32 those about values in profile quick, too."""
        plans = [plan for plan in self.plans[layout]() if not plan.dtypes or signature.out in plan.dtypes]
        about_values = [plan for plan in plans if signature.out == "float32" and _is_about_values(plan)]
        yield from (self._made(signature.out, plan) for plan in about_values)
        yield from self.constructed(signature, layout)
        yield from (self._made(signature.out, plan).late() for plan in plans if plan not in about_values)

    def has(self, signature: Signature, layout: str) -> bool:  # noqa: ARG002 - the interface is SignatureFamily's
        """Say yes: every element type has every layout."""
        return True

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        random = drawer(f"{seed} {layout} {row.text}")
        return self._made(signature.out, self.planned(layout, row.situation, random))

    def kernel(self, signature: Signature) -> Hashable:  # noqa: ARG002 - the interface is SituatedFamily's
        """Return one for all: the element types meet the situations in turn."""
        return None

    def named(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """Return the operands, all of one element type."""
        return tuple((name, signature.out) for name in self.descriptor.roles.names)

    def parts(self, descriptor: Any) -> Iterator[Norm]:
        """Yield the first and the last part that is normalised separately, and all parts but the first."""
        whole: Norm = descriptor
        for window in rows(whole.x.shape, [*self.across(whole)]):
            cut = {name: windowed(spec, window) for name, spec in (("x", whole.x), ("y", whole.out))}
            specs: dict[str, Any] = {**whole.present, **cut}
            attributes: dict[str, Any] = dict(zip(whole.words, whole.attributes, strict=True))
            yield type(whole)(**specs, **attributes)

    def _made(self, dtype: str, plan: Any) -> Case:
        descriptor = self.described(dtype, plan)
        kinds = {plan.contents} if isinstance(plan.contents, str) else set(plan.contents)
        exact = LISTED if "special" in kinds else REPRESENTABLE
        return Case(
            plan.name,
            descriptor,
            partial(self._data, descriptor, plan.contents),
            inplace="x" if plan.inplace else None,
            profile=plan.profile,
            shift=plan.shift * descriptor.x.itemsize,
            accuracy=exact if plan.exact else None,
            fill="exact" if plan.exact else "random" if kinds <= {"random", "usual"} else "designed",
        )

    def _data(self, descriptor: Norm, contents: Any, rng: np.random.Generator) -> dict[str, Any]:
        present: Mapping[str, Any] = descriptor.present
        found = self.values(descriptor, contents, rng)
        return {name: settled(present[name], array) for name, array in found.items() if name in present}


def _is_about_values(plan: Any) -> bool:
    kinds = {plan.contents} if isinstance(plan.contents, str) else set(plan.contents)
    return plan.profile == "quick" and not kinds <= {"random", "usual"}
