"""The CPU provider: one device, the host itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ep
from ep_cpu.device import CpuDevice
from ep_cpu.implementations import IMPLEMENTATIONS
from ep_cpu.native import open_native

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CpuProvider"]


class CpuProvider(ep.spi.Provider):
    """The host's cores, as one device."""

    implementations = IMPLEMENTATIONS

    def probe(self) -> None:
        open_native()

    def devices(self) -> Sequence[CpuDevice]:
        return [CpuDevice(open_native())]
