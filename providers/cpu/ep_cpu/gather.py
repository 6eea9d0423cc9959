"""Gather by runs: what lies together in x and in the output is moved as one, from wherever an index says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ep
from ep_cpu.command import Command, CommandKernel
from ep_cpu.native import check, open_native

if TYPE_CHECKING:
    from ep_primitives import Gather

    from ep_cpu.native import Native

__all__ = ["RunGather"]


class RunGather(ep.Implementation):
    """Runs of bytes, of every element type, rank, stride and batch; single elements by their size."""

    def accepts(self, descriptor: Gather, info: ep.DeviceInfo) -> bool:
        del descriptor, info
        return True

    def compile(self, key: ep.KernelKey, device: ep.spi.Device) -> Native:
        del key, device
        return open_native()

    def create(self, descriptor: Gather, device: ep.spi.Device, code: Native) -> ep.Kernel:
        del device
        return RunKernel(code, _geometry_of(descriptor, code))


class RunKernel(CommandKernel):
    """A geometry over runs."""

    __slots__ = ("_enter", "_geometry", "_native")

    def __init__(self, native: Native, geometry: Any) -> None:
        self._native = native
        self._geometry = geometry
        self._enter = native.lib.ep_launch_gather

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        del stream, scalars
        if status := self._enter(self._geometry, *_addresses(memories)):
            check(status, "ep_launch_gather")

    def command(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Command:
        del scalars
        ffi, geometry = self._native.ffi, self._geometry
        packed = ffi.new("ep_gather_packed *", {"geometry": geometry, "at": _addresses(memories)})
        places = tuple([ffi.offsetof("ep_gather_packed", "at", place) for place in range(len(memories))])
        return Command(self._native, "ep_gather", packed, places, geometry)


def _addresses(memories: tuple[ep.Memory, ...]) -> list[int]:
    # An x without elements may stand in a memory without bytes, which has no handle.
    return [(memory.handle or 0) + memory.offset for memory in memories]


def _geometry_of(descriptor: Gather, native: Native) -> Any:
    """Return the native geometry: the innermost dimension is a run if no index counts in it and it is contiguous."""
    geometry, itemsize = descriptor.geometry, descriptor.x.itemsize
    sizes = tuple(spec.itemsize for spec in (descriptor.x, descriptor.indices, descriptor.out))
    shape, strides, run = geometry.shape, geometry.strides, itemsize
    if descriptor.out.size and shape and tuple(own[-1] for own in strides) == (1, 0, 1):
        shape, strides, run = shape[:-1], tuple(own[:-1] for own in strides), shape[-1] * itemsize
    shape, strides = (shape, strides) if shape else ((1,), ((0,),) * len(strides))
    return native.ffi.new(
        "ep_gather_geometry *",
        {
            "extent": descriptor.extent,
            "reach": descriptor.x.nbytes,
            "step": descriptor.step * itemsize,
            "run": run,
            "size": descriptor.out.size * itemsize // run,
            "traffic": descriptor.nbytes_moved,
            "index_size": descriptor.indices.itemsize,
            "ndim": len(shape),
            "offset": [offset * size for offset, size in zip(geometry.offsets, sizes, strict=True)],
            "shape": shape,
            "stride": [[stride * size for stride in own] for own, size in zip(strides, sizes, strict=True)],
        },
    )
