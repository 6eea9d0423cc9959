"""LayerNorm row by row: a mean, the mean of the squared differences from it, and what is made of each element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ep
from ep_cpu.command import Command, CommandKernel
from ep_cpu.native import check, open_native

if TYPE_CHECKING:
    from ep_primitives import LayerNorm

    from ep_cpu.native import Native

__all__ = ["RowNorm"]


class RowNorm(ep.Implementation):
    """Two sums over each row in one fixed order, whatever the strides and the threads; every floating type."""

    def accepts(self, descriptor: LayerNorm, info: ep.DeviceInfo) -> bool:
        del descriptor, info
        return True

    def compile(self, key: ep.KernelKey, device: ep.spi.Device) -> Native:
        del key, device
        return open_native()

    def create(self, descriptor: LayerNorm, device: ep.spi.Device, code: Native) -> ep.Kernel:
        del device
        return NormKernel(code, _described(descriptor, code))


class NormKernel(CommandKernel):
    """A described LayerNorm, whose memories stand at the native places; what is absent has address 0."""

    __slots__ = ("_native", "_norm")

    def __init__(self, native: Native, norm: Any) -> None:
        self._native = native
        self._norm = norm

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        del stream, scalars
        if status := self._native.lib.ep_launch_layer_norm(self._norm, *_addresses(memories)):
            check(status, "ep_launch_layer_norm")

    def command(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Command:
        del scalars
        ffi = self._native.ffi
        packed = ffi.new("ep_layer_norm_packed *", {"norm": self._norm, "at": _addresses(memories)})
        places = tuple([ffi.offsetof("ep_layer_norm_packed", "at", place) for place in range(len(memories))])
        return Command(self._native, "ep_normalize", packed, places, self._norm)


def _addresses(memories: tuple[ep.Memory, ...]) -> list[int]:
    # Rows of nothing may lie in a memory without bytes, which has no handle.
    return [0 if memory is None else (memory.handle or 0) + memory.offset for memory in memories]


def _described(descriptor: LayerNorm, native: Native) -> Any:
    """Return the native description of a LayerNorm."""
    across, along = descriptor.across, descriptor.along
    sizes = [0 if spec is None else spec.itemsize for _, spec in descriptor.tensors]
    offsets = descriptor.geometry.offsets
    return native.ffi.new(
        "ep_layer_norm *",
        {
            "engine": native.lib.ep_layer_norm_engine_of(native.isa.encode()),
            "dtype": getattr(native.lib, f"EP_{descriptor.x.dtype}"),
            "present": [spec is not None for _, spec in descriptor.tensors],
            "ndim": len(across.shape),
            "inner": len(along.shape) or 1,
            "rows": across.size,
            "terms": descriptor.terms,
            "traffic": descriptor.nbytes_moved,
            "epsilon": descriptor.epsilon,
            "offset": [offset * size for offset, size in zip(offsets, sizes, strict=True)],
            "shape": across.shape,
            "stride": [[stride * size for stride in own] for own, size in zip(across.strides, sizes, strict=True)],
            "extent": along.shape or (1,),
            "step": [[stride * size for stride in own or (1,)] for own, size in zip(along.strides, sizes, strict=True)],
        },
    )
