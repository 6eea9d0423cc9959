"""A Ledger is a provider's view of the EP stream over its own: names for errors, and where failures are reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from ep.errors import DeviceError, place
from ep.ground.failure import Failure

if TYPE_CHECKING:
    from weakref import ref

    from ep.stream.device import Device
    from ep.stream.stream import Stream

__all__ = ["GRAPH", "Ledger", "Ticket"]

GRAPH: Final = "graph"
"""How the enqueue of a graph's launch is called. A step of a lowering runs nodes, too, and the user has no graph to look them up in."""


class Ticket(NamedTuple):
    """One enqueue, as errors name it.

    what     : the operation
    stream   : the stream's name
    sequence : the number of the enqueue
    node     : of a graph's launch the place in `graph.nodes`, None for any other enqueue and for all of a graph
    """

    what: str
    stream: str
    sequence: int
    node: int | None = None

    def of(self, node: int, what: object) -> Ticket:
        """Return the ticket of one node of this graph's launch, or of one stage of this step's."""
        # Graphs ask at each launch of a node: the tuple without its class's constructor.
        own, stream, sequence, _ = self
        return tuple.__new__(Ticket, (str(what), stream, sequence, node if own == GRAPH else None))

    def blame(self, error: BaseException) -> None:
        """Note in an error that it is this enqueue's, unless it is another's already."""
        if isinstance(error, DeviceError):
            error._hit(*self)
        else:
            error.add_note(place(*self))


@final
class Ledger:
    """EP makes one for each stream and gives it to the provider's stream. It keeps no stream alive.

    device  : of the stream
    name    : of the stream, for messages
    """

    __slots__ = ("_failure", "_node", "_stream", "_turn", "device", "name")

    def __init__(self, device: Device) -> None:
        self.device = device
        self.name = f"{device.name}/stream"
        self._failure = Failure()
        self._stream: ref[Stream] | None = None
        self._turn: tuple[Any, int] | None = None  # of a worker
        self._node: tuple[int, Any] | None = None  # of the graph whose nodes are being enqueued

    @property
    def stream(self) -> Stream | None:
        """The stream of EP; None once it was dropped."""
        return None if self._stream is None else self._stream()

    @property
    def what(self) -> str:
        """The operation of the enqueue that is under way, as errors and tickets name it: "upload", or a launch's title."""
        return self.ticket().what

    @property
    def sequence(self) -> int:
        """The number of the enqueue that is under way."""
        stream = self.stream
        return stream._sequence + 1 if stream else 0

    def ticket(self, what: str = "") -> Ticket:
        """Return the ticket of the enqueue under way. `failed` needs it if work fails after its method has returned.

        what : a part of the enqueue, such as one command of the several of a copy; "" for all of it

        While EP enqueues a graph node after node, it is the ticket of the node. A provider's own executable names the
        node: `ledger.ticket().of(node, what)`.
        """
        # A provider asks at each launch: no property, and the tuple without its class's constructor.
        stream, node = None if self._stream is None else self._stream(), None
        if self._turn is not None:
            whole, sequence = self._turn
        else:
            whole, sequence = (None, 0) if stream is None else (stream._inside, stream._sequence + 1)
        if self._node is not None:
            is_graph = str(whole) == GRAPH
            node, whole = self._node
            node = node if is_graph else None
        name = what or ("record" if whole is None else str(whole))
        return tuple.__new__(Ticket, (name, self.name, sequence, node))

    def turn_to(self, what: Any, sequence: int) -> None:
        """Note which enqueue a worker does from here on."""
        self._turn = what, sequence

    def turn_to_node(self, node: tuple[int, Any] | None) -> None:
        """Note which node of a graph is enqueued from here on, by place and operation; None: none is."""
        self._node = node

    def behind(self, ticket: Ticket) -> Ledger:
        """Return a ledger for a provider's thread that does this enqueue's work after the method has returned.

        Its tickets name this enqueue even after later ones; its failures are reported to the same stream.
        """
        made = Ledger(self.device)
        made.name, made._failure, made._stream = self.name, self._failure, self._stream
        made._turn = ticket.what, ticket.sequence
        return made

    @property
    def has_failed(self) -> bool:
        """True from `failed` until a synchronisation raises the error; meanwhile only events and waits are started."""
        return self._failure.is_of_work

    def failed(self, ticket: Ticket | None, error: BaseException) -> None:
        """Report that work failed late; the next synchronisation raises the first failure. From any thread.

        ticket : of the enqueue that failed; None if that is unknown, or if an idle device was lost
        """
        if ticket is not None:
            ticket.blame(error)
        self._failure.keep(error, is_of_work=True)

    def degrade(self, ability: str) -> None:
        """Count one use of EP's default for an ability, in place of the provider."""
        self.device._degrade(ability)

    def hold(self, view: memoryview) -> None:
        """Keep a host buffer until all that was enqueued so far is done."""
        stream = self.stream
        if stream:
            stream._progress.hold(stream, view)
