"""The native module: opened once, with the instruction set and the thread count that the environment asks for.

EP_CPU_ISA      : "amx", "avx512", "avx2" or "baseline": the best that is used, if the machine has it
EP_CPU_THREADS  : threads that one kernel may use; the default is the number of cores this process may run on
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ep

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Native", "Row", "check", "open_native", "rows_of"]

_MOST_THREADS: Final = 1024

Row = tuple[str, str, str, str]
"""Family, op, dtype of the inputs, dtype of the output."""


class Native(NamedTuple):
    """The native module as this process uses it.

    ffi, lib  : cffi's objects
    isa       : name of the instruction set in use
    rows      : the native rows of that instruction set's table
    """

    ffi: Any
    lib: Any
    isa: str
    rows: Mapping[Row, Any]


@functools.cache
def open_native() -> Native:
    """Return the native module, ready. Raises UnavailableError if it was not built or a variable is wrong."""
    try:
        from ep_cpu._native import ffi, lib  # noqa: PLC0415 - loaded by the probe, not by importing the provider
    except ImportError as error:
        message = (
            f"its C++ part cannot be loaded ({error}); install execution-provider again without EP_BUILD_CPU=0, "
            "with g++ and the Python headers there"
        )
        raise ep.UnavailableError(message) from error
    lib.ep_set_threads(_threads())
    limit = os.environ.get("EP_CPU_ISA", "")
    table = lib.ep_open(limit.encode())
    if table == ffi.NULL:
        message = f"EP_CPU_ISA={limit} is not an instruction set of this build; use one of {', '.join(_isas(ffi, lib))}"
        raise ep.UnavailableError(message)
    return Native(ffi, lib, ffi.string(table.isa).decode(), rows_of(ffi, table))


def rows_of(ffi: Any, table: Any) -> dict[Row, Any]:
    """Return the native rows of a table, by family, op, and the dtypes of the input and the output."""
    rows: dict[Row, Any] = {}
    for part in ffi.unpack(table.parts, table.count):
        for i in range(part.count):
            row = part.rows[i]
            texts = (row.family, row.op, row.input, row.output)
            family, op, given, made = (ffi.string(text).decode() for text in texts)
            assert (family, op, given, made) not in rows, f"two kernels: {family} {op} {given} {made}"
            rows[family, op, given, made] = part.rows + i
    return rows


def check(status: int, call: str) -> None:
    """Raise the DeviceError of a native call that did not return 0."""
    if status:
        message = f"{call} failed with code {status}"
        raise ep.DeviceError(message, provider="cpu", call=call, code=status)


def _isas(ffi: Any, lib: Any) -> list[str]:
    names: list[str] = []
    while (name := lib.ep_isa(len(names))) != ffi.NULL:
        names.append(ffi.string(name).decode())
    return names


def _threads() -> int:
    text = os.environ.get("EP_CPU_THREADS", "")
    if not text:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not text.isdecimal() or not 1 <= int(text) <= _MOST_THREADS:
        message = f"EP_CPU_THREADS={text} is not a number of threads; use 1 to {_MOST_THREADS}"
        raise ep.UnavailableError(message)
    return int(text)
