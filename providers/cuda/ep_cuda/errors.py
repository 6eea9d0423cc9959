"""How a failed driver call becomes one of EP's errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import ep

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NOT_READY", "failure", "is_loss"]

NOT_READY: Final = 600
"""Not a failure: the answer of a query about work that is under way."""

_OUT_OF_MEMORY: Final = 2

# After these the context takes no more work, whichever call says so: cuda.h says of most that the process has to end.
_LOST: Final = frozenset({4, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721})


def is_loss(status: int) -> bool:
    """Say whether a code means that the device is lost to the process."""
    return status in _LOST


def failure(
    call: str, status: int, name: str, requested: int = 0, suspects: Sequence[ep.spi.Ticket] = ()
) -> ep.DeviceError:
    """Return EP's error for a call that returned a code, which the driver calls `name`.

    requested : bytes that the call asked for, if it allocates
    suspects  : enqueues of which one lost the device; the error names the only one as the place where it failed
    """
    call, code = call.removesuffix("_v2"), f"{name} ({status})"
    if status == _OUT_OF_MEMORY:
        message = f"CUDA has no memory for {requested} bytes" if requested else "CUDA has no memory for the work"
        return ep.OutOfMemoryError(message, requested=requested, provider="cuda", call=call, code=code)
    if is_loss(status):
        message = "the CUDA device is lost to this process, which has to end: a kernel trapped, or the driver gave up"
        if len(suspects) > 1:
            message += (
                f"; at fault was one of {_spelled(suspects)}; run it with EP_VALIDATE=1, and the error names which"
            )
        lost = ep.DeviceLostError(message, provider="cuda", call=call, code=code)
        if len(suspects) == 1:
            suspects[0].blame(lost)
        return lost
    return ep.DeviceError("a CUDA call failed", provider="cuda", call=call, code=code)


def _spelled(suspects: Sequence[ep.spi.Ticket]) -> str:
    """Return words for several enqueues: the first and the last of each stream."""
    streams: dict[str, list[ep.spi.Ticket]] = {}
    for ticket in suspects:
        streams.setdefault(ticket.stream, []).append(ticket)
    return " and ".join(
        [f"enqueues {_place(tickets[0])} to {_place(tickets[-1])} of {name}" for name, tickets in streams.items()]
    )


def _place(ticket: ep.spi.Ticket) -> str:
    return f"{ticket.sequence} ({ticket.what})"
