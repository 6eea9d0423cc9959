"""Programs as a driver gives them out, kept for later processes: for Intel's driver for CPUs, which keeps none."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import pyopencl as cl
from ep.folders import cache_folder
from ep.kept import Kept

from ep_opencl.compiler.pocl import processor_flags

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Binaries", "keeps_none"]

_PLATFORM: Final = "Intel(R) OpenCL"

_SETTINGS: Final = "CL_CONFIG_"
"""The beginning of the variables by which Intel's compiler is told for which processor it works, among other things."""


def keeps_none(native: cl.Device) -> bool:
    """Say whether a device's driver keeps no programs and is known to give out whatever decides one, as Oclgrind does not."""
    return bool(native.type & cl.device_type.CPU) and native.platform.name == _PLATFORM


class Binaries:
    """The kept programs of one device. One that the driver refuses is compiled anew, and so is one that is not whole."""

    def __init__(self, native: cl.Device) -> None:
        self._kept = Kept(cache_folder() / "opencl" / "binaries")
        settings = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(_SETTINGS))
        # A folder may serve several processors, which drivers call by one name.
        self._device = " ".join(
            (native.version, native.driver_version, native.name, *sorted(processor_flags()), *settings)
        )

    def build(self, text: str, make: Callable[[], cl.Program], load: Callable[[bytes], cl.Program]) -> cl.Program:
        """Return a built program.

        text : its options and source
        make : compiles it
        load : makes it of what the driver once gave out
        """
        key = f"{self._device} {text}"
        binary = self._kept.read(key)
        if binary is not None:
            with suppress(cl.Error):
                return load(binary)
        built = make()
        with suppress(cl.Error):
            binaries: Any = built.get_info(cl.program_info.BINARIES)
            self._kept.write(key, binaries[0])
        return built
