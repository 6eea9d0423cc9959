"""A provider's stream: an in-order queue of work, behind the verbs that users call."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from ep.ground.waiting import sleep, wait_until
from ep.spi.event import Event, HostEvent

if TYPE_CHECKING:
    from collections.abc import Callable

    import ep
    from ep.ground.ledger import Ledger
    from ep.memory.memory import Memory

__all__ = ["Stream", "let_host_wait", "polls", "settle"]


class Stream(ABC):
    """An in-order queue; `ep.Stream` holds it as its `twin`. EP has checked all arguments before it calls a method here.

    If work may fail after its method has returned, the method takes `ledger.ticket()`, and the code that sees the
    failure calls `ledger.failed(ticket, error)`. While `ledger.has_failed`, the stream starts no later work except
    events and waits, which are reached, so that no host waits for ever; other streams go on. Work that a driver's queue
    holds already may run all the same. The next synchronisation raises the error, once.

    wakes_host      : of the class: True if `pause` ends as soon as the work is done
    ledger          : of EP: who the stream is, and where late failures are reported
    is_synchronous  : True: each method returns when its work is done
    is_timed        : True: events recorded with timed=True carry device time
    """

    wakes_host: ClassVar[bool] = False

    def __init__(self, ledger: Ledger, *, is_synchronous: bool, is_timed: bool = True) -> None:
        self.ledger = ledger
        self.is_synchronous = is_synchronous
        self.is_timed = is_timed

    # What a provider must write.

    @abstractmethod
    def copy(self, dst: Memory | memoryview, src: Memory | memoryview, nbytes: int) -> None:
        """Enqueue a copy; each side is a Memory or a flat memoryview of nbytes > 0 bytes, one at least a Memory.

        A host buffer is read or written when the queue gets there, not before: earlier work, such as a host function,
        may write the bytes that are read. A synchronous stream is done with the buffer when this returns, any other
        when an event recorded after it is done. Until then EP keeps the buffer alive, and the caller leaves it
        unchanged.
        """

    @abstractmethod
    def synchronize(self) -> None:
        """Wait until all that was enqueued is done. Raises the DeviceError of work that failed, or reports it.

        On a lost device it does not wait, and raises DeviceLostError each time.
        """

    # What a provider may write.

    def upload_constant(self, dst: Memory, src: memoryview, nbytes: int) -> None:
        """Enqueue a copy from a host buffer that nothing changes until it is done, so that it may be read from now on.

        For queues that do not reach host memory: the bytes go with the command, and the queue need not ask for them. dst is
        written when the queue gets there. Default: `copy`, at no loss where the queue reads host memory itself.
        """
        self.copy(dst, src, nbytes)

    def fill(self, dst: Memory, pattern: bytes) -> None:
        """Enqueue a fill; nbytes and offset are multiples of the pattern's length. Default: a copy from the host."""
        self.ledger.degrade("fill")
        view = memoryview(pattern * (dst.nbytes // len(pattern)))
        self.copy(dst, view, dst.nbytes)
        self.ledger.hold(view)

    def record(self, *, timed: bool) -> Event:
        """Enqueue an event. Default: the host waits, and the event is done.

        The device's retire list records events, too, from any thread that frees memory: unlike the other methods, this
        one may be called while another one is running.
        """
        del timed
        self.ledger.degrade("event")
        self.synchronize()
        return HostEvent()

    def can_wait(self, event: ep.Event) -> bool:
        """Say whether `wait` takes this event, of whichever stream, device and provider. Default: those of this device."""
        return event.device is self.ledger.device

    def wait(self, event: ep.Event) -> None:
        """Enqueue a wait of the device; `event.twin` is what `record` returned. Default: the host waits."""
        let_host_wait(self, event)

    def is_idle(self) -> bool:
        """Answer without waiting whether all that was enqueued is done; of a lost device True. Raises nothing.

        Default: EP asks an event that it records; where host waits have a timeout, a thread of EP waits in their place.
        """
        raise NotImplementedError

    def dlpack_stream(self) -> Any:
        """Return the stream's handle for DLPack producers of this device type. Default: None, so that they wait."""
        return None

    def pause(self, seconds: float) -> None:
        """Let the host rest while it waits for this stream, `seconds` at most. Default: all of them."""
        sleep(seconds)

    def call(self, function: Callable[[], object]) -> None:
        """Enqueue a call of a host function, which raises nothing. Default: the host waits, then calls it.

        On a synchronous stream that is in order; on an asynchronous one the host loses its asynchrony: degraded.
        """
        if not self.is_synchronous:
            self.ledger.degrade("call")
            settle(self, None)
        function()

    def abandon(self) -> None:
        """Give up work under way, because the process ends: events that the driver waits for will not come."""

    def close(self) -> None:
        """Release what the stream holds; nothing is under way."""


def polls(stream: Stream) -> bool:
    """Say whether the provider answers if the stream is idle."""
    return type(stream).is_idle is not Stream.is_idle


def let_host_wait(stream: Stream, event: ep.Event) -> None:
    """Wait in place of the device: degraded, unless the stream is synchronous and all of its waits are the host's."""
    if not stream.is_synchronous:
        stream.ledger.degrade("wait")
    event._wait_done()


def settle(stream: Stream, timeout: float | None) -> None:
    """Wait until all that the stream was given is done, at most `timeout` seconds. Raises TimeoutError, or its error.

    Where the stream does not answer if it is idle, a wait with a timeout is left to a thread.
    """
    operation = f"{stream.ledger.name}.synchronize"
    if polls(stream):
        wait_until(stream.is_idle, timeout, operation, stream.pause, wakes=stream.wakes_host)
        stream.synchronize()
    elif timeout is None:
        stream.synchronize()
    else:
        waiter = threading.Thread(
            target=_synchronize_quietly, args=(stream,), name=f"{stream.ledger.name} wait", daemon=True
        )
        waiter.start()
        wait_until(lambda: not waiter.is_alive(), timeout, operation, sleep)


def _synchronize_quietly(stream: Stream) -> None:
    try:
        stream.synchronize()
    except Exception as error:  # noqa: BLE001 - the waiting thread raises it, whatever it is
        stream.ledger.failed(None, error)
