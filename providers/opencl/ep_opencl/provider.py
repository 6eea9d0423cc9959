"""ClProvider: every device of every OpenCL platform on this machine."""

from __future__ import annotations

import contextlib
import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import ep
from ep_opencl.compiler.folder import CompilerFolder, require_writable
from ep_opencl.compiler.pocl import check_variable, is_pocl

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyopencl as cl

__all__ = ["ClProvider"]

_INSTALL: Final = "pip install 'execution-provider[opencl]' brings pyopencl and the CPU driver PoCL"

_MOST_THREADS: Final = 1024

_CHOSEN: Final = "POCL_CACHE_DIR"


class ClProvider(ep.spi.Provider):
    """OpenCL: one EP device for each OpenCL device, in the platforms' order.

    folder : where PoCL compiles, None if the user has chosen a folder for it
    """

    folder: CompilerFolder | None = None

    def probe(self) -> None:
        self.folder = _folder()
        with _variable("PYOPENCL_NO_CACHE", "1"):  # its database; the driver's compiler has a folder of its own
            try:
                import pyopencl as cl  # noqa: PLC0415 - vendor libraries are imported by the probe
            except ImportError as error:
                message = f"pyopencl cannot be imported ({error}); {_INSTALL}"
                raise ep.UnavailableError(message) from error
        _limit_threads()
        check_variable()
        with _variable(_CHOSEN, str(self.folder.work) if self.folder else ""):  # it is read once
            try:
                platforms = cl.get_platforms()
            except cl.Error as error:
                message = f"OpenCL lists no platform ({error}); {_INSTALL}"
                raise ep.UnavailableError(message) from error
            found, reasons = _devices_of(platforms)
        if not found:
            message = f"no platform of {len(platforms)} has a device{reasons}; {_INSTALL}"
            raise ep.UnavailableError(message)
        self._native = found

    def devices(self) -> Sequence[ep.spi.Device]:
        from ep_opencl.device import ClDevice  # noqa: PLC0415 - imports pyopencl, which the probe has found

        return [ClDevice(native, self.folder if is_pocl(native) else None) for native in self._native]

    @functools.cached_property
    def implementations(self) -> Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]:
        """The table, in implementations.py."""
        from ep_opencl.implementations import IMPLEMENTATIONS  # noqa: PLC0415 - imports pyopencl

        return IMPLEMENTATIONS


def _folder() -> CompilerFolder | None:
    """Return the folder for PoCL's compiler, None if POCL_CACHE_DIR names one. Raises UnavailableError if that cannot be written."""
    chosen = os.environ.get(_CHOSEN)
    if not chosen:
        return CompilerFolder()
    try:
        require_writable(Path(chosen))
    except OSError as error:
        message = f"{_CHOSEN}={chosen} cannot be written ({error.strerror}); name another folder, or leave it to EP"
        raise ep.UnavailableError(message) from None
    return None


@contextlib.contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    """Set a variable that the user has not set, or to "", for as long as a library reads it: programs that are started do not inherit it."""
    before = os.environ.get(name)
    if before or not value:
        yield
        return
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before


def _limit_threads() -> None:
    """Hand EP_CPU_THREADS on to PoCL. Raises UnavailableError unless it is a number of threads."""
    text = os.environ.get("EP_CPU_THREADS", "")
    if not text:
        return
    if not text.isdecimal() or not 1 <= int(text) <= _MOST_THREADS:
        message = f"EP_CPU_THREADS={text} is not a number of threads; use 1 to {_MOST_THREADS}"
        raise ep.UnavailableError(message)
    # PoCL reads its variable when its platform is first listed, and crashes where that says -1; it has no call for it.
    os.environ.setdefault("POCL_MAX_PTHREAD_COUNT", text)


def _devices_of(platforms: Sequence[cl.Platform]) -> tuple[list[Any], str]:
    """Return the devices, and why platforms without any have none."""
    import pyopencl as cl  # noqa: PLC0415 - the probe has found it

    found: list[Any] = []
    reasons = ""
    for platform in platforms:
        try:
            found += platform.get_devices()
        except cl.Error as error:
            reasons += f"; {platform.name}: {error}"
    return found, reasons
