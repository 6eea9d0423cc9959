"""CudaProvider: every device of NVIDIA's driver."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import ep

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["CudaProvider"]


class CudaProvider(ep.spi.Provider):
    """CUDA: one EP device for each device that the driver shows, in its order; CUDA_VISIBLE_DEVICES is the driver's."""

    def probe(self) -> None:
        from ep_cuda.compiler.nvrtc import nvrtc  # noqa: PLC0415 - libraries are opened by the probe
        from ep_cuda.driver import driver  # noqa: PLC0415 - likewise

        opened = driver()
        self._count = opened.answer("cuDeviceGetCount", "int")
        if not self._count:
            message = "NVIDIA's driver shows no device; look at nvidia-smi, and at CUDA_VISIBLE_DEVICES"
            raise ep.UnavailableError(message)
        nvrtc()

    def devices(self) -> Sequence[ep.spi.Device]:
        from ep_cuda.device import CudaDevice  # noqa: PLC0415 - opens what the probe has found

        return [CudaDevice(ordinal) for ordinal in range(self._count)]

    def advice(self) -> Sequence[str]:
        from ep_cuda.cublas.library import CURE, located  # noqa: PLC0415 - likewise

        found = [
            f"cuda:{ordinal} runs no kernel: {why}" for ordinal in range(self._count) if (why := _refusal(ordinal))
        ]
        if located() is None:
            found.append(f"cuBLASLt is not installed, so that matrix products run by the portable kernels; {CURE}")
        return found

    @functools.cached_property
    def implementations(self) -> Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]:
        """The table, in implementations.py."""
        from ep_cuda.implementations import IMPLEMENTATIONS  # noqa: PLC0415 - reads all families

        return IMPLEMENTATIONS


def _refusal(ordinal: int) -> str:
    """Return why NVRTC makes no code for a device, "" if it does."""
    from ep_cuda.compiler.nvrtc import nvrtc  # noqa: PLC0415 - opened by the probe
    from ep_cuda.description import architecture  # noqa: PLC0415 - likewise
    from ep_cuda.driver import driver  # noqa: PLC0415 - likewise

    opened = driver()
    try:
        nvrtc().options(architecture(opened, opened.answer("cuDeviceGet", "CUdevice", ordinal)))
    except ep.UnsupportedError as error:
        return str(error)
    return ""
