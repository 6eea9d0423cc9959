"""AddN in one pass: blocks of every term are added up while caches hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ep
from ep_cpu.command import Command, CommandKernel
from ep_cpu.native import check, open_native
from ep_cpu.tiles import tiled

if TYPE_CHECKING:
    from ep_primitives import AddN

    from ep_cpu.native import Native, Row

__all__ = ["BlockSum"]


class BlockSum(ep.Implementation):
    """Sums of blocks by the loops of BroadcastBinary's add; any strides, of any instruction set."""

    def accepts(self, descriptor: AddN, info: ep.DeviceInfo) -> bool:
        del info
        if _row(descriptor) not in open_native().rows:
            message = f"add_n: no loop that adds {descriptor.out.dtype}; rows are in native/arithmetic.def"
            raise ep.UnsupportedError(message)
        return True

    def compile(self, key: ep.KernelKey, device: ep.spi.Device) -> Native:
        del key, device
        return open_native()

    def create(self, descriptor: AddN, device: ep.spi.Device, code: Native) -> ep.Kernel:
        del device
        return SumKernel(code, descriptor)


class SumKernel(CommandKernel):
    """The native description of a sum; `kept` is what it points to."""

    __slots__ = ("_kept", "_native", "_terms")

    def __init__(self, native: Native, descriptor: AddN) -> None:
        geometry, size = tiled(descriptor.geometry), descriptor.out.itemsize
        shape, strides = geometry.shape or (1,), [own or (0,) for own in geometry.strides]
        offset = native.ffi.new("int64_t[]", [offset * size for offset in geometry.offsets])
        stride = native.ffi.new("int64_t[][16]", [[step * size for step in own] for own in strides])
        self._native = native
        self._terms = native.ffi.new(
            "ep_terms *",
            {
                "row": native.rows[_row(descriptor)],
                "size": geometry.size,
                "traffic": descriptor.nbytes_moved,
                "terms": len(descriptor.specs) - 1,
                "ndim": len(shape),
                "shape": shape,
                "offset": offset,
                "stride": stride,
            },
        )
        self._kept = self._terms, offset, stride

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        del stream, scalars
        addresses = [memory.handle + memory.offset for memory in memories]
        check(self._native.lib.ep_launch_add_n(self._terms, addresses), "ep_launch_add_n")

    def command(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Command:
        del scalars
        ffi = self._native.ffi
        addresses = [memory.handle + memory.offset for memory in memories]
        packed = ffi.new("ep_terms_packed *", {"terms": self._terms, "at": addresses})
        places = tuple([ffi.offsetof("ep_terms_packed", "at", place) for place in range(len(memories))])
        return Command(self._native, "ep_add_terms", packed, places, self._kept)


def _row(descriptor: AddN) -> Row:
    """Return the row that adds two terms, or gives one back."""
    dtype = descriptor.out.dtype
    if len(descriptor.specs) > 2:  # noqa: PLR2004 - the output, and more terms than one
        return "broadcast_binary", "add", dtype, dtype
    return "elementwise_unary", "identity", dtype, dtype
