"""The native module: protected memory, and the bytes that workers move."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import ep

__all__ = ["Native", "address_of", "open_native"]


class Native(NamedTuple):
    """The native module, cffi's two objects."""

    ffi: Any
    lib: Any


@functools.cache
def open_native() -> Native:
    """Return the native module. Raises UnavailableError if it was not built."""
    try:
        from ep_sim._native import ffi, lib  # noqa: PLC0415 - loaded by the probe, not by importing the provider
    except ImportError as error:
        message = (
            f"its C part cannot be loaded ({error}); install execution-provider again on Linux, without EP_BUILD_CPU=0, "
            "with g++ and the Python headers there"
        )
        raise ep.UnavailableError(message) from error
    return Native(ffi, lib)


def address_of(native: Native, view: memoryview) -> int:
    """Return where a host buffer is."""
    return int(native.ffi.cast("uintptr_t", native.ffi.from_buffer(view)))
