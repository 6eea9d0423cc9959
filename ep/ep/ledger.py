"""A Ledger is what a provider's stream knows of the stream that EP made of it: who it is, and where failures go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, final

from ep.errors import DeviceError, place
from ep.failure import Failure

if TYPE_CHECKING:
    from weakref import ref

    from ep.device import Device
    from ep.stream import Stream

__all__ = ["Ledger", "Ticket"]


class Ticket(NamedTuple):
    """One enqueue, as errors name it.

    what     : the operation
    stream   : the stream's name
    sequence : the number of the enqueue
    """

    what: str
    stream: str
    sequence: int

    def blame(self, error: BaseException) -> None:
        """Note in an error that it is this enqueue's, unless it is another's already."""
        if isinstance(error, DeviceError):
            error._hit(self.what, self.stream, self.sequence)
        else:
            error.add_note(place(self.what, self.stream, self.sequence))


@final
class Ledger:
    """Made by EP for each stream, and given to the provider's; it keeps no stream alive.

    device  : of the stream
    name    : of the stream, for messages
    """

    __slots__ = ("_failure", "_stream", "_turn", "device", "name")

    def __init__(self, device: Device) -> None:
        self.device = device
        self.name = f"{device.name}/stream"
        self._failure = Failure()
        self._stream: ref[Stream] | None = None
        self._turn: tuple[Any, int] | None = None  # of a worker

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

        what : the part of it, such as one command of a graph; "" for all of it
        """
        if what:
            return Ticket(what, self.name, self.sequence if self._turn is None else self._turn[1])
        if self._turn is not None:
            whole, sequence = self._turn
        else:
            stream = self._stream and self._stream()
            whole, sequence = stream and stream._inside, self.sequence
        return Ticket("record" if whole is None else str(whole), self.name, sequence)

    def turn_to(self, what: Any, sequence: int) -> None:
        """Say what a worker does from here on."""
        self._turn = what, sequence

    def failed(self, ticket: Ticket | None, error: BaseException) -> None:
        """Report that work failed late; who synchronises with the stream hears of the first failure. From any thread.

        ticket : of the enqueue; None where nobody knows which it was
        """
        if ticket is not None:
            ticket.blame(error)
        self._failure.keep(error)

    def degrade(self, ability: str) -> None:
        """Count that an ability was served by a default of EP in the provider's place."""
        self.device._degrade(ability)

    def hold(self, view: memoryview) -> None:
        """Keep a host buffer until all that was enqueued so far is done."""
        stream = self._stream and self._stream()
        if stream:
            stream._progress.hold(stream, view)
