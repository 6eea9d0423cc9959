"""A Graph is work that a stream's capture recorded, launched as one enqueue, with other memories at its slots."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final, NoReturn, final

from ep.errors import ClosedError
from ep.ground.glimpse import glimpse
from ep.ground.ledger import GRAPH
from ep.ground.uncopied import Uncopied
from ep.memory.memory import Memory
from ep.memory.namesakes import refuse_device
from ep.memory.scratch import planned, with_scratch
from ep.memory.segment import OWNERSHIP
from ep.stream.event import Event
from ep.stream.slots import SlotTable, overlapping
from ep.work.lowering import flattened

if TYPE_CHECKING:
    from ep.memory.memory import Lease
    from ep.stream.device import Device
    from ep.stream.stream import Stream
    from ep.work.executable import Bindings, Executable, Node

__all__ = ["Graph"]

_LONGEST_NAME: Final = 100


@final
class Graph(Uncopied):
    """Captured work of one device, made by `with stream.capture() as graph:`.

    Holds its memories: close() on one of them returns its bytes when the graph is closed or gone. Launched on any
    stream of the device, by several threads at once; each launch owns its bindings.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self._nodes: list[Node] = []
        self._lanes: list[int] = []
        self._flat: tuple[Node, ...] = ()
        self._memories: dict[str, Memory] = {}
        self._leases: set[Lease] = set()
        self._others: set[Device] = set()
        self._turn = threading.RLock()  # for naming slots and for making it ready; handlers may reenter
        self._table: SlotTable | None = None
        self._executable: Executable | None = None
        self._arena: Memory | None = None
        # After the last launch that used the arena, or the stream of one that was broken off.
        self._last: Event | Stream | None = None
        self._run: Any = None
        self._refusal = "its capture has not ended; launch it after the with block"
        self.is_closed = False

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The captured nodes in the order in which they run. The first launch replaces a lowered node by its stages."""
        return self._flat or tuple(self._nodes)

    @property
    def slots(self) -> tuple[str, ...]:
        """The names that a launch may give memories for."""
        return tuple(self._memories)

    def slot(self, name: str, memory: Memory) -> None:
        """Name a captured memory as a slot: launches may give another memory for the operands that lie in it.

        Call it before the first launch, inside the capture or after it. An operand lies in the memory if it begins
        there and touches no byte beyond it. Raises TypeError, ClosedError, or ValueError for a name or bytes of another
        slot.
        """
        if type(name) is not str or len(name) > _LONGEST_NAME or not name.isidentifier():
            message = f"graph.slot: name {glimpse(name)} is no identifier of at most 100 characters, and launch takes it as a keyword; give such as 'x'"
            raise ValueError(message)
        if type(memory) is not Memory:
            message = f"graph.slot: {name} is {type(memory).__name__}, needs a Memory that was captured; of a tensor x that is x.memory"
            raise TypeError(message)
        memory._require_open(f"graph.slot: {name}")
        with self._turn:
            if self.is_closed:
                self._explain("graph.slot")
            if self._table is not None:
                message = f"graph.slot: {name} comes after the first launch; name all slots before it"
                raise ValueError(message)
            if name in self._memories:
                message = f"graph.slot: there is a slot {name} already; give another name"
                raise ValueError(message)
            for other, its in self._memories.items():
                if overlapping(memory, its):
                    message = f"graph.slot: {name} shares bytes with slot {other}; name memories that do not overlap"
                    raise ValueError(message)
            self._memories[name] = memory

    def launch(self, stream: Stream, /, **memories: Memory) -> None:
        """Enqueue one run of all nodes, as one enqueue.

        stream    : any stream of the graph's device
        memories  : for some slots a memory in place of the captured one: of at least its nbytes, on its device, as
                    aligned as the operands need. It may share bytes with another slot's or the graph's memories only if
                    neither is written. A slot without a memory keeps the captured one

        Raises TypeError, ValueError or ClosedError, naming the slot, before anything is enqueued.
        """
        if getattr(stream, "device", None) is not self.device:
            self._explain_stream(stream)
        run = self._run or self._make_ready()
        given: tuple[Memory, ...] = ()
        bindings: Bindings = ()
        if memories:
            # The table and the executable are there once _run is; close() may take the latter from another thread.
            table, executable = self._table, self._executable
            if table is None or executable is None:
                self._explain("graph.launch")
            given, bindings = table.check(memories)
            run = executable.bind(bindings)
        for other in self._others:
            other._retired.enrol(stream)
            stream._devices.add(other)
        try:
            if self._arena is None:
                stream._submit(self, given, bindings, run)
            else:
                self._follow(stream, given, bindings, run)
        except AttributeError:
            if not hasattr(stream, "_submit"):  # has a device, and is none: a memory
                self._explain_stream(stream)
            raise

    def _follow(self, stream: Stream, given: tuple[Memory, ...], bindings: Bindings, run: Any) -> None:
        """Enqueue a launch after the previous one, on whichever stream that was: both use the same arena."""
        stream._require_open("graph.launch")
        stream._require_uncaptured("graph")
        with self._turn:
            last = self._last
            if last is not None and not isinstance(last, Event):  # the stream of a launch that was broken off
                last = None if last is stream or last.is_closed else last.record(timed=False)
            if last is not None:
                stream.wait(last)
            self._last = stream  # which an interruption leaves here: the launch may then be under way
            stream._submit(self, given, bindings, run)
            self._last = stream.record(timed=False)

    def close(self) -> None:
        """Release the memories once enqueued launches are done. Idempotent; the graph cannot be launched afterwards."""
        with OWNERSHIP.lock:
            self.is_closed, self._refusal = True, "it was closed; capture again"
            executable, self._executable, self._run = self._executable, None, None
        self._nodes, self._lanes, self._flat, self._table, self._arena, self._last = [], [], (), None, None, None
        if executable is not None:
            executable.close()
        self._leases = set()

    def _add(self, node: Node, lane: int) -> None:
        """Take over one node and hold its memories.

        lane : which of the captured streams it is of
        """
        if self.is_closed:
            self._explain("capture")
        for memory in node.memories:
            if memory is None:  # an absent operand
                continue
            self._leases.add(memory._block.keep())
            if memory.device is not self.device:
                self._others.add(memory.device)
        self._nodes.append(node)
        self._lanes.append(lane)

    def _complete(self) -> None:
        if not self.is_closed:
            self._refusal = ""

    def _abandon(self, reason: str) -> None:
        self.close()
        self._refusal = f"{reason}; capture again"

    def _make_ready(self) -> Any:
        """Return the function that runs the nodes with the captured memories, made at the first launch."""
        self.device._check_fork("graph.launch")
        with self._turn:
            if self._run is None:
                if self._refusal:
                    self._explain("graph.launch")
                nodes = self._flat = self._flat or self._flattened()
                table = self._table = self._table or SlotTable(nodes, self._memories)
                executable = self.device._instantiate(nodes, table.slots)
                run = executable.bind((None,) * len(self._memories))
                with OWNERSHIP.lock:
                    is_first = self._run is None and not self.is_closed
                    if is_first:
                        self._executable, self._run = executable, run
                if not is_first:  # it was made, or the graph closed, by a handler that came in
                    executable.close()
            return self._run or self._explain("graph.launch")

    def _equipped(self) -> tuple[Node, ...]:
        """Return the nodes with the scratch that they need, which lies in one arena of the graph's own."""
        begins, nbytes = planned(self._nodes, self._lanes, self.device.info.alignment)
        if not nbytes:
            return tuple(self._nodes)
        if self._arena is None:
            self._arena = self.device.allocate(nbytes)
        return with_scratch(self._nodes, begins, self._arena)

    def _flattened(self) -> tuple[Node, ...]:
        return tuple([each for node in self._equipped() for each in flattened(node)])

    def _explain(self, operation: str) -> NoReturn:
        message = (
            f"{operation}: the graph of {len(self._nodes)} nodes on {self.device.name} cannot be used: {self._refusal}"
        )
        raise (ClosedError if self.is_closed else ValueError)(message)

    def _explain_stream(self, stream: Any) -> NoReturn:
        if not hasattr(stream, "_submit"):
            message = f"graph.launch: stream is {type(stream).__name__}, needs a Stream; device.stream() makes one"
            raise TypeError(message)
        refuse_device("graph.launch", "stream is of", stream.device, self.device, f"one of {self.device.name}")

    def __del__(self) -> None:
        if not getattr(self, "is_closed", True):
            self.close()

    def __str__(self) -> str:
        return GRAPH

    def __repr__(self) -> str:
        return f"<{'closed ' if self.is_closed else ''}Graph of {len(self._nodes)} nodes on {self.device.name}>"
