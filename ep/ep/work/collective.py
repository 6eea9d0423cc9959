"""A Collective is a descriptor of what the ranks of a communicator do together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ep.errors import UnsupportedError
from ep.ground.glimpse import glimpse
from ep.work.cache import PrimitiveCache
from ep.work.descriptor import Descriptor
from ep.work.implementation import choose

if TYPE_CHECKING:
    from ep import spi
    from ep.layout.spec import TensorSpec
    from ep.stream.device import Device
    from ep.work.implementation import Implementation, Kernel
    from ep.work.primitive import Primitive

__all__ = ["Collective", "CollectiveCache"]


class Collective(Descriptor):
    """One rank's part in what all ranks of a communicator do; `on(communicator)` makes it runnable.

    Each rank launches its own part on a stream of its device. A communicator's collectives meet in the order in which each
    rank launches them. A launch always runs, also over tensors without elements: the other ranks wait for it.

    Operands are dense: a stream's carrier sends bytes. Other tensors are made dense by `Copy`.
    """

    __slots__ = ()

    specs: tuple[
        TensorSpec, ...
    ]  # there are no numbers, and no absent operands: roles differ by instance in their place
    attributes: tuple[int, ...]
    is_paired: ClassVar[bool] = False
    """True if two ranks meet, and not all."""

    @property
    def agreement(self) -> str:
        """What ranks that meet must say alike, in words: collective, element type, count, root. Printed where they differ."""
        return self.title

    @property
    def title(self) -> str:
        """The collective's name in messages, with its op if it has one."""
        return self.family if self.op == "-" else f"{self.family} {self.op}"

    @property
    def is_empty(self) -> bool:
        """False: the other ranks wait for this one, whatever there is to write."""
        return False

    @property
    def layout(self) -> str:
        """The layout part of the cell."""
        return "dense"

    @property
    def flops(self) -> int:
        """One for each element of the first operand."""
        return self.specs[0].size if self.specs else 0

    def check_rank(self, rank: int, size: int) -> None:
        """Raise ValueError unless the descriptor makes sense at one rank of `size`: extents that the ranks share, a root."""

    def check_dense(self) -> None:
        """Raise ValueError, naming the operand, unless all operands are dense. For constructors."""
        for name, spec in zip(self.operands, self.specs, strict=True):
            if not spec.is_dense:
                message = f"{self.title}: {name} is {spec}, needs a dense tensor; make one with Copy"
                raise ValueError(message)

    def on(self, communicator: Any) -> Primitive:
        """Return the primitive for this descriptor on a communicator, cached there.

        Raises UnsupportedError with the reasons, ValueError if the descriptor makes no sense at this rank, the
        communicator's error if it is broken, ClosedError if it is closed, TypeError for what is no Communicator.
        """
        if not hasattr(communicator, "living"):
            message = f"{self.family}.on: communicator is {glimpse(communicator)}, needs a Communicator; ep.communicator(device, group) makes one"
            raise TypeError(message)
        return super().on(communicator)

    @property
    def cell(self) -> str:
        """The text of this descriptor's cell."""
        return f"{self.family}/{self.op}/{self.specs[0].dtype if self.specs else '-'}/{self.layout}"


class CollectiveCache(PrimitiveCache):
    """The primitives of a communicator. What is no collective is its device's, so that a lowered collective may compute."""

    def __init__(self, device: Device, twin: spi.Communicator) -> None:
        super().__init__(device)
        self._twin = twin

    def get(self, descriptor: Descriptor) -> Primitive:
        """Return the primitive of a descriptor. See Collective.on."""
        if not isinstance(descriptor, Collective):
            return self._device._primitives.get(descriptor)
        descriptor.check_rank(self._twin.rank, self._twin.size)
        return super().get(descriptor)

    def _served(self, descriptor: Descriptor, reasons: list[str]) -> tuple[Implementation, Kernel] | None:
        if not isinstance(descriptor, Collective):
            raise UnsupportedError(descriptor.cell)
        table = self._twin.implementations
        implementation = choose(table.get(type(descriptor), ()), descriptor, self._device.info, reasons)
        if implementation is not None:
            return implementation, implementation.create(descriptor, self._twin, None)  # type: ignore[arg-type]  # see spi.Communicator
        if type(descriptor) not in table:
            reasons.append(f"{type(self._twin).__name__} has no implementation of {descriptor.family}")
        return None
