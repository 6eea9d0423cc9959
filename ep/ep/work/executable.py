"""An Executable is captured work made ready to run; a device without one of its own gets a plain replay."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

from ep.errors import DeviceError
from ep.ground.uncopied import Uncopied
from ep.memory.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep.spi.stream import Stream
    from ep.work.primitive import Primitive

    Run = Callable[[Any, tuple[Memory, ...], tuple[Any, ...]], Any]

__all__ = ["Bindings", "Executable", "Node", "Place", "Replay", "Slot", "moved"]


class Node(NamedTuple):
    """One enqueue of a captured stream.

    what      : the Primitive, or "copy" or "fill"
    memories  : of a launch its tensor operands in operand order, None for an absent one, then the scratch if there is
                any; of a copy the target and the source; of a fill the target
    scalars   : of a launch the numbers of its Scalar operands, in operand order; of a fill its pattern
    run       : enqueues the node: `run(stream, memories, scalars)`
    """

    what: Primitive | str
    memories: tuple[Memory, ...]
    scalars: tuple[Any, ...]
    run: Run

    @property
    def is_empty(self) -> bool:
        """True for a launch whose outputs have no elements: it does nothing."""
        return not isinstance(self.what, str) and self.what.descriptor.is_empty

    @property
    def is_collective(self) -> bool:
        """True for a launch that takes a number among those of a communicator: see `ep.spi.Communicator`."""
        return hasattr(self.run, "numbered")

    @property
    def scratch_nbytes(self) -> int:
        """The bytes that a launch needs beside its operands."""
        return 0 if isinstance(self.what, str) else self.what.scratch_nbytes

    @property
    def lacks_scratch(self) -> bool:
        """True while the graph has not yet appended the scratch that the node needs."""
        return (
            not isinstance(self.what, str)
            and self.scratch_nbytes > 0
            and len(self.memories) == len(self.what.descriptor.tensors)
        )


class Place(NamedTuple):
    """An operand that a slot rebinds: `nodes[node].memories[operand]`.

    offset : where the operand's memory begins, in bytes from the slot's
    """

    node: int
    operand: int
    offset: int


class Slot(NamedTuple):
    """A name under which a launch gives another memory for the operands at `places`.

    memory : the one that was captured, which a launch may leave in its place
    places : which operands of which nodes lie in it, and how many bytes from its start
    """

    name: str
    memory: Memory
    places: tuple[Place, ...]


Bindings = tuple[Memory | None, ...]
"""For each slot the memory that a launch gives, None for the captured one."""


class Executable(Uncopied, ABC):
    """Nodes made ready to run in their order. Bound and run by several threads and on several streams at once."""

    @abstractmethod
    def bind(self, bindings: Bindings) -> Run:
        """Return a function that enqueues one run with these memories: EP calls it with a stream and the memories.

        Everything is validated. The function returned for bindings of None alone is called many times, by several
        threads at once; any other is called once at most. After a failed node the later nodes are not started, and the
        error names the failed node: `stream.ledger.ticket().of(node, what)`.
        """

    def close(self) -> None:
        """Release what the executable holds; runs that were enqueued go on."""


class Replay(Executable):
    """Runs node after node, each as it was enqueued when it was captured."""

    def __init__(self, nodes: tuple[Node, ...], slots: tuple[Slot, ...]) -> None:
        self._nodes = nodes
        self._slots = slots

    def bind(self, bindings: Bindings) -> Run:
        changed: dict[int, list[Memory]] = {}
        for slot, memory in zip(self._slots, bindings, strict=True):
            for node, operand, offset in slot.places if memory is not None else ():
                memories = changed.setdefault(node, [*self._nodes[node].memories])
                memories[operand] = moved(memories[operand], memory, offset)
        work = [
            ((place, node.what), node.run, tuple(changed[place]) if place in changed else node.memories, node.scalars)
            for place, node in enumerate(self._nodes)
        ]

        def run(stream: Stream, _: Any, __: Any) -> None:
            turn_to_node = stream.ledger.turn_to_node
            try:
                for node, enqueue, memories, scalars in work:
                    turn_to_node(node)
                    enqueue(stream, memories, scalars)
            except DeviceError as error:
                stream.ledger.ticket().blame(error)
                raise
            finally:
                turn_to_node(None)

        return run


def moved(captured: Memory, given: Memory | None, offset: int) -> Memory:
    """Return as many bytes as were captured, or the bytes that there are, from byte `offset` of the given memory on."""
    assert given is not None
    return Memory(given._block, given.offset + offset, min(captured.nbytes, given.nbytes - offset), is_view=True)
