"""A family brings the rows, descriptors and sample cases of one kind of operation; it comes in by an entry point."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ep.layout.cells import Cell
    from ep.work.descriptor import Descriptor

__all__ = ["Family", "by_name"]


class Family(ABC):
    """One kind of operation: its cells, a sample descriptor for each, and what the suite needs to judge it.

    `reference`, `moved`, `accuracy` and `is_constant` answer for the operands that a launch writes: with one answer for
    all of them, or with a mapping from each one's name to its answer.

    name        : a word in small letters, the first part of its cells
    descriptor  : the subclass of Descriptor whose `family` is that name
    """

    name: ClassVar[str]
    descriptor: ClassVar[type[Descriptor]]

    @abstractmethod
    def cells(self) -> Iterator[Cell]:
        """Yield every cell of the family, in the order of its rows."""

    @abstractmethod
    def sample(self, cell: Cell) -> Descriptor:
        """Return a small descriptor of the cell, to ask `accepts` with; nothing of it is launched."""

    @abstractmethod
    def since(self, cell: Cell) -> str:
        """Return the suite version, "major.minor", that first held the cell."""

    @abstractmethod
    def cases(self, cell: Cell) -> Iterable[Any]:
        """Yield the `ep_primitives.Case`s of the cell; conformance checks them and benchmarks time them."""

    @abstractmethod
    def reference(self, descriptor: Descriptor, inputs: dict[str, Any]) -> Any:
        """Return the `ep_primitives.Reference` of the inputs, computed independently of every provider.

        inputs : for each operand that is read an array of the logical shape in the element type of its spec, or a
                 number for a Scalar; absent operands are left out
        """

    def moved(self, descriptor: Descriptor, inputs: dict[str, Any]) -> Any:  # noqa: ARG002 - for families that move elements
        """Return the output of a family that moves elements unchanged, as an array in its own element type.

        The suite then compares bits: the payload of a NaN and the byte of a bool are kept. None for a family that computes.
        A state is compared by bits alone: a family with states answers with a mapping that has their final contents.
        """
        return None

    def parts(self, descriptor: Descriptor) -> Iterable[Descriptor]:  # noqa: ARG002 - for families whose results stand alone
        """Yield parts of the work: descriptors whose specs are windows of this one's, over the same memories.

        A family whose output elements or rows depend on their own inputs alone yields some of them. The suite launches
        each part and demands the bits that the whole launch wrote there: no result may depend on its neighbours.
        """
        return ()

    def origin(
        self,
        descriptor: Descriptor,  # noqa: ARG002 - for families that know
        inputs: Mapping[str, Any],  # noqa: ARG002 - of operands that say where others are read
        output: str,  # noqa: ARG002 - of families that have several
        at: tuple[int, ...],  # noqa: ARG002 - as above
    ) -> Mapping[str, tuple[int | slice, ...]] | None:
        """Return the input elements that an output element depends on: for each tensor operand an index, with slices.

        at : index of the output element

        Operands on which it does not depend are left out; None says that the family does not know. The suite names
        these elements in its messages, and looks for a smaller failure among them.
        """
        return None

    def is_reproducible(self, descriptor: Descriptor) -> bool:  # noqa: ARG002 - for families whose results are one formula each
        """Say whether devices of one arithmetic owe equal bits where results are rounded; exact results are equal anyway.

        A family whose results are one formula of their own elements each answers True: the order of nothing is open.
        Default: False, as for sums and products, whose order is the provider's. `ep-conformance run --bits-of` asks.
        """
        return False

    def is_constant(self, descriptor: Descriptor) -> Any:  # noqa: ARG002 - for families that have such ops
        """Say whether the output is the same for every input, so that no data can show that it is computed."""
        return False

    @abstractmethod
    def accuracy(self, descriptor: Descriptor) -> Any:
        """Return the `ep_primitives.Accuracy` that results of the descriptor are held to."""


def by_name(descriptor: Descriptor, answer: Any) -> dict[str, Any]:
    """Return a family's answer for each operand that a launch writes; None for those it leaves out."""
    if isinstance(answer, Mapping):
        return {name: answer.get(name) for name in descriptor.written}
    return {name: None if name in descriptor.roles.states else answer for name in descriptor.written}
