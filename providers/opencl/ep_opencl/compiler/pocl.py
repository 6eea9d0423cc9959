"""What is particular to PoCL 3.0, the newest in a wheel: declarations that can be left out, and an optional repair.

It cannot compile on processors newer than its LLVM.
LLVM calls a processor that it does not know "generic"; PoCL hands that name to clang, and clang refuses it (PoCL's
issue 1049, cured in 5.0 by POCL_LLVM_CPU_NAME). For processors with AVX-512 that it knows it ends the process in some
loops. The name lies in the driver's device structure. With EP_POCL_PROCESSOR another name is written over it before the
first build. Without that variable nothing is written, and kernels do not compile, or a few of them crash.
"""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import ep

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    import pyopencl as cl

__all__ = [
    "CURE",
    "WITHOUT_DECLARATIONS",
    "check_variable",
    "declares_all",
    "is_pocl",
    "lacks_processor",
    "name_processor",
    "processor_flags",
    "processor_name",
    "write_over",
]

_VARIABLE: Final = "EP_POCL_PROCESSOR"
_BEST: Final = "auto"

CURE: Final = f"set {_VARIABLE}={_BEST}, by which EP writes the name of an older processor into the driver's memory, or install PoCL 5 or newer"

WITHOUT_DECLARATIONS: Final = "-D_OPENCL_H_"
"""The option after which PoCL 3 declares nothing of OpenCL C: the guard of the 18,000 lines of clang's opencl-c.h, which it
includes before each program. They take 80 of the 90 ms of an empty one."""

_UNKNOWN: Final = "generic"

_HASWELL: Final = frozenset({"avx2", "bmi1", "bmi2", "fma", "f16c", "abm", "movbe"})

# Newest first. Each is no longer than the old name, or fits into malloc's smallest block, 24 bytes. None has AVX-512: for it the
# compiler of PoCL 3.0 crashes on top_k's loop in groups of two, in llvm::Loop::getCanonicalInductionVariable.
_NAMES: Final = (
    ("haswell", _HASWELL),
    ("x86-64", frozenset({"sse2"})),
)

_PLATFORM: Final = "Portable Computing Language"

_RELEASE: Final = (
    "3."  # the release whose structure and headers were seen; older ones have no wheel, newer ones the cure
)

_TARGET: Final = "x86_64-unknown-linux-gnu-"

_STRUCTURE_NBYTES: Final = 2048


def processor_name(flags: AbstractSet[str]) -> str | None:
    """Return LLVM's name for the newest processor whose instructions are all among the kernel's `flags`."""
    return next((name for name, needed in _NAMES if needed <= flags), None)


def processor_flags() -> frozenset[str]:
    """Return the instructions that the processor has, by the kernel's names; none where it does not tell."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("flags"):
                return frozenset(line.partition(":")[2].split())
    return frozenset()


def is_pocl(native: cl.Device) -> bool:
    """Say whether a device is one of PoCL's."""
    return bool(native.platform.name == _PLATFORM)


def declares_all(native: cl.Device) -> bool:
    """Say whether a device is of the release that declares all of OpenCL C, unless `WITHOUT_DECLARATIONS` is among the options."""
    return _is_seen(native)


def lacks_processor(native: cl.Device) -> bool:
    """Say whether a device is one of PoCL's that was told to compile for a processor that its compiler does not know."""
    return _is_seen(native) and _processor(native) == _UNKNOWN


def check_variable() -> None:
    """Raise UnavailableError if EP_POCL_PROCESSOR is no name that the compiler knows."""
    text, names = os.environ.get(_VARIABLE, ""), [name for name, _ in _NAMES]
    if text not in {"", _BEST, *names}:
        message = f"{_VARIABLE}={text} is no processor that PoCL {_RELEASE}0 can be told of; use {_BEST}, or one of {', '.join(names)}"
        raise ep.UnavailableError(message)


def name_processor(native: cl.Device) -> str:
    """Give a device that lacks one, or has one that crashes its compiler, the name of a processor, if EP_POCL_PROCESSOR asks for it.

    Returns that name: the variable's, or for "auto" the newest whose instructions this processor has. "" if the
    variable is not set, the device needs no other name, or the system does not show the memory. Idempotent.
    """
    asked = os.environ.get(_VARIABLE, "")
    if asked and (lacks_processor(native) or _crashes_compiler(native)):
        with suppress(OSError):
            name = processor_name(processor_flags()) if asked == _BEST else asked
            return name if name is not None and write_over(native.int_ptr, _processor(native), name) else ""
    return ""


def write_over(structure: int, old: str, new: str) -> bool:
    """Write the name `new` over `old` that the structure points to; True if it stands there now."""
    before, after = (name.encode() + b"\0" for name in (old, new))
    writable = _writable()
    # Through this file a wrong address is an error that can be caught, not a crash; but it also writes to constants,
    # which other code may share.
    with Path("/proc/self/mem").open("r+b", buffering=0) as memory:
        memory.seek(structure)
        for (address,) in struct.iter_unpack("<Q", memory.read(_STRUCTURE_NBYTES)):
            if not any(address in block and address + len(after) - 1 in block for block in writable):
                continue
            memory.seek(address)
            found = memory.read(max(len(before), len(after)))
            if found.startswith(before):
                memory.seek(address)
                memory.write(after)
            if found.startswith((before, after)):
                return True
    return False


def _crashes_compiler(native: cl.Device) -> bool:
    """Say whether a device is one of PoCL's that compiles for a processor with AVX-512, by a name that its compiler knows."""
    known = _processor(native) not in {"", _UNKNOWN, *(name for name, _ in _NAMES)}
    return _is_seen(native) and known and "avx512f" in processor_flags()


def _processor(native: cl.Device) -> str:
    """Return LLVM's name for the processor that a device compiles for, "" where its version does not end in one."""
    return native.version.rpartition(_TARGET)[2] if _TARGET in native.version else ""


def _is_seen(native: cl.Device) -> bool:
    return is_pocl(native) and bool(native.driver_version.startswith(_RELEASE))


def _writable() -> list[range]:
    """Return the addresses that this process may write to."""
    lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    facts = [line.split(maxsplit=2) for line in lines]
    spans = [span.split("-") for span, rights, _ in facts if rights.startswith("rw")]
    return [range(int(begin, 16), int(end, 16)) for begin, end in spans]
