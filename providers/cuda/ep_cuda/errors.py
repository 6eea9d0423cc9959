"""How a failed driver call becomes one of EP's errors."""

from __future__ import annotations

from typing import Final

import ep

__all__ = ["NOT_READY", "failure"]

NOT_READY: Final = 600
"""Not a failure: the answer of a query about work that is under way."""

_OUT_OF_MEMORY: Final = 2

# After these the context takes no more work, whichever call says so: cuda.h says of most that the process has to end.
_LOST: Final = frozenset({4, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721})


def failure(call: str, status: int, name: str, requested: int = 0) -> ep.DeviceError:
    """Return EP's error for a call that returned a code, which the driver calls `name`.

    requested : bytes that the call asked for, if it allocates
    """
    call, code = call.removesuffix("_v2"), f"{name} ({status})"
    if status == _OUT_OF_MEMORY:
        message = f"CUDA has no memory for {requested} bytes" if requested else "CUDA has no memory for the work"
        return ep.OutOfMemoryError(message, requested=requested, provider="cuda", call=call, code=code)
    if status in _LOST:
        message = "the CUDA device is lost to this process, which has to end: a kernel trapped, or the driver gave up"
        return ep.DeviceLostError(message, provider="cuda", call=call, code=code)
    return ep.DeviceError("a CUDA call failed", provider="cuda", call=call, code=code)
