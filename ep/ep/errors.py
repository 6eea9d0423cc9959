"""The exceptions of EP. A caller's own mistake is a plain ValueError or TypeError, raised before anything is enqueued."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "ClosedError",
    "CommunicatorError",
    "CompileError",
    "DeviceError",
    "DeviceLostError",
    "EpError",
    "OutOfMemoryError",
    "TimeoutError",
    "UnavailableError",
    "UnsupportedError",
]


class EpError(Exception):
    """Anything that EP itself reports; a caller's own mistake is a plain ValueError or TypeError.

    What to do: catch one of its subclasses, which say whose mistake it is.
    """


class UnavailableError(EpError):
    """A provider or device is not on this machine; the message is the reason.

    What to do: `ep doctor` says what was found, what was refused, and which variable decided it.
    """


class UnsupportedError(EpError, NotImplementedError):
    """This device cannot do what was described; `reasons` holds one sentence for each implementation that was asked.

    The only exception that means "try the next implementation".

    What to do: describe what the reasons allow, or take another device; `ep capabilities` lists what one can do.
    """

    def __init__(self, message: str, reasons: Sequence[str] = ()) -> None:
        super().__init__("\n".join([message, *(f"  - {reason}" for reason in reasons)]))
        self.reasons = tuple(reasons)


class CompileError(EpError):
    """Device code failed to compile: `log` is the compiler's text, `source` what it was given, `entry` the kernel.

    What to do: nothing in the program is wrong; give the three to whoever made the provider.
    """

    def __init__(self, message: str, *, log: str = "", source: str = "", entry: str = "") -> None:
        super().__init__(f"{message}\n{log}" if log else message)
        self.log = log
        self.source = source
        self.entry = entry


class DeviceError(EpError):
    """A vendor call failed: `provider`, `call` and `code` name it; `op`, `stream` and `sequence` the enqueue it hit.

    In a graph's launch `op` is the operation of the node that failed and `node` its place in `graph.nodes`; `node` is None
    outside of graphs. With EP_VALIDATE=1 also `file` and `line` of the program that enqueued it.

    What to do: look at that enqueue. Later work of its stream was not started until a synchronisation raised this
    error, unless it was in a queue of the driver already. `call` and `code` are in the vendor's manual.
    """

    def __init__(self, message: str, *, provider: str = "", call: str = "", code: int | str = "") -> None:
        super().__init__(message)
        self.provider = provider
        self.call = call
        self.code = code
        self.op: str | None = None
        self.stream: str | None = None
        self.sequence: int | None = None
        self.node: int | None = None
        self.file: str | None = None
        self.line: int | None = None

    def _hit(self, what: object, stream: str, sequence: int, node: int | None = None) -> None:
        """Note which enqueue of which stream failed, and which node of it; the first note stands."""
        if self.op is None:
            self.op, self.stream, self.sequence, self.node = str(what), stream, sequence, node

    def __str__(self) -> str:
        text = super().__str__()
        if self.call:
            text += f" [{self.provider}: {self.call} -> {self.code}]"
        if self.op is not None:
            text += f" ({place(self.op, self.stream, self.sequence, self.node)})"
        if self.file is not None:
            text += f" at {self.file}:{self.line}"
        return text


def place(what: object, stream: str | None, sequence: int | None, node: int | None = None) -> str:
    """Return words that name an enqueue: its number, stream and operation, and the node of a graph's launch."""
    where = f"enqueue {sequence} of {stream}"
    return f"{where}: {what}" if node is None else f"{where}, node {node} of its graph: {what}"


class OutOfMemoryError(DeviceError, MemoryError):
    """An allocation did not fit: `requested`, `free` and `reserved` in bytes, None where the device cannot tell.

    What to do: close memories, or raise the device's budget, and ask again; the device still works.
    """

    def __init__(  # noqa: PLR0913 - the three figures and the three names are the report
        self,
        message: str,
        *,
        requested: int,
        free: int | None = None,
        reserved: int | None = None,
        provider: str = "",
        call: str = "",
        code: int | str = "",
    ) -> None:
        super().__init__(message, provider=provider, call=call, code=code)
        self.requested = requested
        self.free = free
        self.reserved = reserved


class DeviceLostError(DeviceError):
    """The device stopped answering; nothing made from it works any more, and every verb and wait says so.

    What to do: close what was made from it, and open the device in a new process; some providers open it again in this one.
    """


class CommunicatorError(EpError):
    """A communicator is broken: a rank did not come, left, failed, launched something else, or aborted.

    rank        : of the communicator that says so
    collective  : what this rank was in, or launched; "" if nothing
    sequence    : its number, from 1, among this rank's collectives of the communicator, of a Send or Recv among those of
                  the pair of ranks; 0 if nothing
    blamed      : the ranks that it is about

    Every rank gets one, whichever failed. The communicator stays broken.

    What to do: look at the ranks that are blamed. The living ones may go on: `communicator.split(communicator.living)`.
    """

    def __init__(
        self, message: str, *, rank: int, collective: str = "", sequence: int = 0, blamed: Sequence[int] = ()
    ) -> None:
        super().__init__(message)
        self.rank = rank
        self.collective = collective
        self.sequence = sequence
        self.blamed = tuple(blamed)


class TimeoutError(EpError, builtins.TimeoutError):  # noqa: A001 - it is the builtin, too
    """A host wait ended before the device did; the stream or event is still usable.

    What to do: wait again, or look for the cause: an event that is never reached, or a function that does not return.
    """


class ClosedError(EpError, ValueError):
    """An object was used after its close(), or in a child process though it was made before fork().

    What to do: keep it open while it is used, and open devices in the child.
    """
