"""A Ledger is what a provider's stream knows of the stream that EP made of it: who it is, and where failures go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, final

from ep.errors import DeviceError, place
from ep.ground.failure import Failure

if TYPE_CHECKING:
    from weakref import ref

    from ep.stream.device import Device
    from ep.stream.stream import Stream

__all__ = ["Ledger", "Ticket"]


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
        """Return the ticket of one node of this graph's launch."""
        return self._replace(node=node, what=str(what))

    def blame(self, error: BaseException) -> None:
        """Note in an error that it is this enqueue's, unless it is another's already."""
        if isinstance(error, DeviceError):
            error._hit(*self)
        else:
            error.add_note(place(*self))


@final
class Ledger:
    """Made by EP for each stream, and given to the provider's; it keeps no stream alive.

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
    def what(self) -> str:
        """The operation of the enqueue that is under way, as errors and tickets name it: "upload", or a launch's title."""
        return self.ticket().what

    @property
    def sequence(self) -> int:
        """The number of the enqueue that is under way."""
        stream = self._stream and self._stream()
        return stream._sequence + 1 if stream else 0

    def ticket(self, what: str = "") -> Ticket:
        """Return the enqueue that is under way: what `failed` needs if it fails after its method has returned.

        what : the part of it, such as the one command of several that a copy needs; "" for all of it

        Where EP enqueues a graph node after node it is the ticket of the node; an executable of the provider's own says
        which node it means: `ledger.ticket().of(node, what)`.
        """
        if self._turn is not None:
            whole, sequence = self._turn
        else:
            stream = self._stream and self._stream()
            whole, sequence = stream and stream._inside, self.sequence
        node = None
        if self._node is not None:
            node, whole = self._node
        return Ticket(what or ("record" if whole is None else str(whole)), self.name, sequence, node)

    def turn_to(self, what: Any, sequence: int) -> None:
        """Say what a worker does from here on."""
        self._turn = what, sequence

    def turn_to_node(self, node: tuple[int, Any] | None) -> None:
        """Say which node of a graph is enqueued from here on, by its place and what it is; None: no graph is."""
        self._node = node

    def behind(self, ticket: Ticket) -> Ledger:
        """Return a ledger for a thread of the provider's own that does the work of an enqueue after that has returned.

        Its tickets are of that enqueue, whatever the stream is given meanwhile; failures go where this one's go.
        """
        made = Ledger(self.device)
        made.name, made._failure, made._stream = self.name, self._failure, self._stream
        made._turn = ticket.what, ticket.sequence
        return made

    @property
    def has_failed(self) -> bool:
        """True from `failed` on until somebody heard of it: until then nothing but events and waits is started."""
        return self._failure.is_of_work

    def failed(self, ticket: Ticket | None, error: BaseException) -> None:
        """Report that work failed late; who synchronises with the stream hears of the first failure. From any thread.

        ticket : of the enqueue; None where nobody knows which it was, or nobody's work failed: an idle device was lost
        """
        if ticket is not None:
            ticket.blame(error)
        self._failure.keep(error, is_of_work=True)

    def degrade(self, ability: str) -> None:
        """Count that an ability was served by a default of EP in the provider's place."""
        self.device._degrade(ability)

    def hold(self, view: memoryview) -> None:
        """Keep a host buffer until all that was enqueued so far is done."""
        stream = self._stream and self._stream()
        if stream:
            stream._progress.hold(stream, view)
