"""The floating-point environment of this process: references are computed in it, and any library may have changed it."""

from __future__ import annotations

import sys
from typing import Final

__all__ = ["changed_environment"]

_ONE: Final = 1.0
_TINY: Final = 1e-20
_LEAST_NORMAL: Final = sys.float_info.min
_LEAST: Final = b"\1\0\0\0\0\0\0\0"


def changed_environment() -> str:
    """Return "" if this thread computes as IEEE 754 has it by default, else its deviation in words.

    A reference that flushes subnormals itself would hide that a device flushes them without declaring it.
    """
    what = []
    if _LEAST_NORMAL * 0.5 == 0:
        what.append("makes subnormal results zero")
    if memoryview(_LEAST).cast("d")[0] * 2 == 0:
        what.append("takes subnormal operands for zero")
    if (_ONE + _TINY, _ONE - _TINY, -_ONE - _TINY) != (_ONE, _ONE, -_ONE):
        what.append("does not round to nearest")
    if not what:
        return ""
    return (
        f"the provider's process {' and '.join(what)}: a library in it changed the floating-point environment of the "
        "calling thread (linked with -ffast-math, or MXCSR, FPCR or fesetround), in which references and users' programs "
        "compute; link it without, or restore the environment before each return"
    )
