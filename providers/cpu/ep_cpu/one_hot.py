"""OneHot by rows: a buffer of `off`, in which `on` is put for each row, is copied to where the rows lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ep
from ep_cpu.command import Command, CommandKernel
from ep_cpu.elementwise import row_of
from ep_cpu.launch import number_bytes
from ep_cpu.native import check, open_native

if TYPE_CHECKING:
    from ep_primitives import OneHot

    from ep_cpu.native import Native, Row

__all__ = ["RowOneHot"]


class RowOneHot(ep.Implementation):
    """Whole rows of classes, or blocks of positions where classes lie apart; every element type, rank and stride."""

    def accepts(self, descriptor: OneHot, info: ep.DeviceInfo) -> bool:
        del info
        if _row(descriptor) not in open_native().rows:
            message = (
                f"one_hot: no element is made of a number of {descriptor.out.dtype}; rows are in native/storages.cpp"
            )
            raise ep.UnsupportedError(message)
        return True

    def compile(self, key: ep.KernelKey, device: ep.spi.Device) -> Native:
        del key, device
        return open_native()

    def create(self, descriptor: OneHot, device: ep.spi.Device, code: Native) -> ep.Kernel:
        del device
        return RowKernel(code, _geometry_of(descriptor, code), descriptor.compute)


class RowKernel(CommandKernel):
    """A geometry over indices, and the type that both numbers come in."""

    __slots__ = ("_compute", "_geometry", "_native")

    def __init__(self, native: Native, geometry: Any, compute: str) -> None:
        self._native = native
        self._geometry = geometry
        self._compute = compute

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        del stream
        on, off = (number_bytes(self._compute, number) for number in scalars)
        indices, out = (memory.handle + memory.offset for memory in memories)
        status = self._native.lib.ep_launch_one_hot(self._geometry, on, len(on), off, len(off), indices, out)
        check(status, "ep_launch_one_hot")

    def command(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Command:
        on, off = (number_bytes(self._compute, number) for number in scalars)
        ffi, geometry = self._native.ffi, self._geometry
        addresses = [memory.handle + memory.offset for memory in memories]
        packed = ffi.new("ep_one_hot_packed *", {"geometry": geometry, "at": addresses, "on": on, "off": off})
        places = tuple([ffi.offsetof("ep_one_hot_packed", "at", place) for place in range(len(memories))])
        return Command(self._native, "ep_one_hot", packed, places, geometry)


def _row(descriptor: OneHot) -> Row:
    return row_of("fill", "-", (descriptor.out.dtype, descriptor.out.dtype))


def _geometry_of(descriptor: OneHot, native: Native) -> Any:
    geometry, indices, out = descriptor.geometry, descriptor.indices, descriptor.out
    sizes, places = (indices.itemsize, out.itemsize), (0, -1)
    strides = [geometry.strides[place] or (0,) for place in places]
    shape = geometry.shape or (1,)
    return native.ffi.new(
        "ep_one_hot_geometry *",
        {
            "fill": native.rows[_row(descriptor)],
            "first": descriptor.first,
            "classes": descriptor.classes,
            "step": descriptor.step * out.itemsize,
            "size": indices.size,
            "traffic": descriptor.nbytes_moved,
            "index_size": indices.itemsize,
            "ndim": len(shape),
            "offset": [geometry.offsets[place] * size for place, size in zip(places, sizes, strict=True)],
            "shape": shape,
            "stride": [[stride * size for stride in own] for own, size in zip(strides, sizes, strict=True)],
        },
    )
