"""The table: which descriptors this provider runs, and by what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import ep_simt
from ep_primitives import BroadcastBinary, Cast, Copy, ElementwiseUnary, Fill, RandomFill

import ep
from ep_opencl.description import ROUNDED
from ep_opencl.kernel import ClKernel, Entry
from ep_opencl.random_fill import PortableRandom

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_opencl.device import ClDevice

__all__ = ["IMPLEMENTATIONS", "Portable"]

_ROUNDED_OPS: Final = ("div", "sqrt")


class Portable(ep.Implementation):
    """The portable bodies of ep_simt."""

    def accepts(self, descriptor: ep.Descriptor, info: ep.DeviceInfo) -> bool:
        ep_simt.require(descriptor, info)
        key = descriptor.key
        if key.op in _ROUNDED_OPS and key.dtypes[0] == "float32" and ROUNDED not in info.features:
            message = f"{info.name} does not round {key.op} of float32 correctly"
            raise ep.UnsupportedError(message)
        return True

    def compile(self, key: ep.KernelKey, device: ClDevice) -> Entry:  # type: ignore[override]  # a provider gets its own devices
        return Entry(device, ep_simt.program_of(key), ep_simt.entry_of(key))

    def create(self, descriptor: ep.Descriptor, device: ep.spi.Device, code: Entry) -> ClKernel:
        del device
        return ClKernel(code, descriptor)


_PORTABLE: Final = (Portable(),)

IMPLEMENTATIONS: Final[Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]] = {
    ElementwiseUnary: _PORTABLE,
    BroadcastBinary: _PORTABLE,
    Cast: _PORTABLE,
    Fill: _PORTABLE,
    Copy: _PORTABLE,
    RandomFill: (PortableRandom(),),
}
