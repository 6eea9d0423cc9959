"""The table: the descriptors that this provider runs, each with its implementation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import ep_simt

import ep
from ep_opencl.description import ROUNDED

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["IMPLEMENTATIONS", "Portable"]


class Portable(ep_simt.Portable):
    """The portable kernels of ep_simt."""

    def accepts(self, descriptor: ep.Descriptor, info: ep.DeviceInfo) -> bool:
        super().accepts(descriptor, info)
        key = descriptor.key
        if ROUNDED not in info.features and ep_simt.bodies()[key.family].rounds(key):
            message = (
                f"{info.name} does not round quotients and roots of float32 correctly, which {descriptor.title} needs"
            )
            raise ep.UnsupportedError(message)
        return True


IMPLEMENTATIONS: Final[Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]] = ep_simt.implementations(
    Portable()
)
