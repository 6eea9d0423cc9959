"""A cure for PoCL 3.0, the newest in a wheel: it cannot compile on processors that are newer than its LLVM.

LLVM calls a processor that it does not know "generic"; PoCL hands that name to clang, and clang refuses it (PoCL's
issue 1049, cured in 5.0 by POCL_LLVM_CPU_NAME). The name lies in the driver's device structure. It is written over
before the first build, with the newest name that LLVM 14 knows and whose instructions this processor has.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet
    from io import FileIO

    import pyopencl as cl

__all__ = ["name_processor", "processor_name"]

_UNKNOWN: Final = b"generic\0"

_HASWELL: Final = frozenset({"avx2", "bmi1", "bmi2", "fma", "f16c", "abm", "movbe"})

_SKYLAKE: Final = frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "adx", "clflushopt", "clwb"})

# Newest first. Each fits into the smallest block of malloc, 24 bytes, which is what the old name lies in.
_NAMES: Final = (
    ("skylake-avx512", _HASWELL | _SKYLAKE),
    ("haswell", _HASWELL),
    ("x86-64", frozenset({"sse2"})),
)

_PLATFORM: Final = "Portable Computing Language"

_TARGET: Final = "x86_64-unknown-linux-gnu-generic"

_STRUCTURE_NBYTES: Final = 2048


def processor_name(flags: AbstractSet[str]) -> str | None:
    """Return LLVM's name for the newest processor whose instructions are all among the kernel's `flags`."""
    return next((name for name, needed in _NAMES if needed <= flags), None)


def name_processor(native: cl.Device) -> str:
    """Give a PoCL device whose processor LLVM does not know a name that it can compile for.

    Returns that name, "" where there is nothing to cure. Idempotent.
    """
    if native.platform.name != _PLATFORM or not native.version.endswith(_TARGET):
        return ""
    name = processor_name(_flags())
    if name is None:
        return ""
    new = name.encode() + b"\0"
    # Through this file a wrong address is an error that can be caught, not a crash.
    with Path("/proc/self/mem").open("r+b", buffering=0) as memory:
        memory.seek(native.int_ptr)
        for (address,) in struct.iter_unpack("<Q", memory.read(_STRUCTURE_NBYTES)):
            found = _read(memory, address, len(new))
            if found == new:
                return name
            if found.startswith(_UNKNOWN):
                memory.seek(address)
                memory.write(new)
                return name
    return ""


def _read(memory: FileIO, address: int, nbytes: int) -> bytes:
    try:
        memory.seek(address)
        return memory.read(nbytes)
    except (OSError, ValueError, OverflowError):
        return b""


def _flags() -> frozenset[str]:
    for line in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("flags"):
            return frozenset(line.partition(":")[2].split())
    return frozenset()
