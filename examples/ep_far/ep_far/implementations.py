"""Far devices' implementations: copies of any type, and a few operations on float32, of any strides."""

from __future__ import annotations

from typing import Any

from ep_primitives import BroadcastBinary, Copy, ElementwiseUnary

import ep
from ep_far.stream import FarStream, place_of

_FLOAT32 = {ElementwiseUnary: ("negative", "abs", "relu"), BroadcastBinary: ("add", "mul")}


class FarKernel(ep.Kernel):
    """An operation that the device knows by name."""

    def __init__(self, descriptor: ep.Descriptor, op: str) -> None:
        geometry, size = descriptor.geometry, descriptor.out.itemsize
        self._head = [op, "float32" if op != "copy" else f"V{size}", geometry.shape]
        self._operands = [
            (offset * size, [stride * size for stride in strides])
            for offset, strides in zip(geometry.offsets, geometry.strides, strict=True)
        ]

    def arguments(self, memories: tuple[ep.Memory, ...]) -> list[Any]:
        """Return the launch as the device does it."""
        operands = zip(memories, self._operands, strict=True)
        return [*self._head, *((*place_of(memory), *inside) for memory, inside in operands)]

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        del scalars
        assert isinstance(stream, FarStream)
        stream.enqueue("kernel", *self.arguments(memories))


class FarCopy(ep.Implementation):
    """Copies elements of any type."""

    def accepts(self, descriptor: Copy, info: ep.DeviceInfo) -> bool:
        del descriptor, info
        return True

    def create(self, descriptor: Copy, device: ep.spi.Device, code: None) -> ep.Kernel:
        del device, code
        return FarKernel(descriptor, "copy")


class FarOperation(ep.Implementation):
    """Operations on float32 tensors."""

    def accepts(self, descriptor: ep.Descriptor, info: ep.DeviceInfo) -> bool:
        del info
        known = _FLOAT32[type(descriptor)]
        dtypes = {spec.dtype for spec in descriptor.specs}
        if descriptor.op not in known or dtypes != {"float32"}:
            message = f"{descriptor.op} on {', '.join(sorted(dtypes))}; {', '.join(known)} on float32 are done"
            raise ep.UnsupportedError(message)
        if any(isinstance(spec, ep.Scalar) for spec in descriptor.specs):
            message = f"{descriptor.op} of a number; all operands must be tensors"
            raise ep.UnsupportedError(message)
        return True

    def create(self, descriptor: ep.Descriptor, device: ep.spi.Device, code: None) -> ep.Kernel:
        del device, code
        return FarKernel(descriptor, descriptor.op)


IMPLEMENTATIONS = {
    Copy: (FarCopy(),),
    ElementwiseUnary: (FarOperation(),),
    BroadcastBinary: (FarOperation(),),
}
