"""Reductions: each row of x goes through a tree that its extents and strides alone decide, whoever does which part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import ep
from ep_cpu.command import Command, CommandKernel
from ep_cpu.native import check, open_native

if TYPE_CHECKING:
    from ep_primitives.reductions.dimensions import Reduction

    from ep_cpu.native import Native

__all__ = ["ChunkTree", "RowKernel", "reduction_of"]

_WORTH_A_VECTOR: Final = 16


class ChunkTree(ep.Implementation):
    """Chunks of vector lanes joined pairwise, rows side by side or one at a time; any strides, of any instruction set."""

    def accepts(self, descriptor: Reduction, info: ep.DeviceInfo) -> bool:
        del info
        native = open_native()
        if _reducer_of(descriptor, native) == native.ffi.NULL:
            names = f"{descriptor.x.dtype} to {descriptor.out.dtype}"
            message = f"reduce/{descriptor.op}: no kernel from {names}; kernels are rows of native/reduce.def"
            raise ep.UnsupportedError(message)
        return True

    def compile(self, key: ep.KernelKey, device: ep.spi.Device) -> Native:
        del key, device
        return open_native()

    def create(self, descriptor: Reduction, device: ep.spi.Device, code: Native) -> ep.Kernel:
        del device
        return RowKernel(code, reduction_of(descriptor, code, reducer=_reducer_of(descriptor, code)), "reduce")


class RowKernel(CommandKernel):
    """How the rows of x lie, and the native entry that makes an element of each."""

    __slots__ = ("_entry", "_launch", "_native", "_reduction")

    def __init__(self, native: Native, reduction: Any, entry: str) -> None:
        self._native = native
        self._reduction = reduction
        self._entry = f"ep_{entry}"
        self._launch = getattr(native.lib, f"ep_launch_{entry}")

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        del stream, scalars
        x, out = memories
        # An x without elements may stand in a memory without bytes, which has no handle.
        if status := self._launch(self._reduction, (x.handle or 0) + x.offset, out.handle + out.offset):
            check(status, self._entry)

    def command(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Command:
        del scalars
        ffi = self._native.ffi
        addresses = [(memory.handle or 0) + memory.offset for memory in memories]
        packed = ffi.new("ep_reduce_packed *", {"reduction": self._reduction, "at": addresses})
        places = tuple([ffi.offsetof("ep_reduce_packed", "at", place) for place in range(len(memories))])
        return Command(self._native, self._entry, packed, places, self._reduction)


def reduction_of(descriptor: Reduction, native: Native, **engine: Any) -> Any:
    """Return the native description of the rows of a descriptor, with the engine that it names."""
    x, out = descriptor.x, descriptor.out
    kept, reduced = descriptor.kept, descriptor.reduced
    extents, along = kept.shape or (1,), reduced.shape or (1,)
    strides = [own or (0,) for own in kept.strides]
    last = max(range(len(extents)), key=lambda axis: _worth(extents[axis], strides[0][axis]))
    order = [axis for axis in range(len(extents)) if axis != last] + [last]
    sizes = (x.itemsize, out.itemsize)
    reduction = {
        "outputs": out.size,
        "terms": descriptor.terms,
        "traffic": descriptor.nbytes_moved,
        "offset": [offset * size for offset, size in zip(kept.offsets, sizes, strict=True)],
        "out_dtype": getattr(native.lib, f"EP_{out.dtype}"),
        "kept": len(extents),
        "ndim": len(along),
        "kept_extent": [extents[axis] for axis in order],
        "kept_stride": [[own[axis] * size for axis in order] for own, size in zip(strides, sizes, strict=True)],
        "extent": along,
        "stride": [stride * x.itemsize for stride in reduced.strides[0] or (0,)],
        "place": _places(along),
    }
    return native.ffi.new("ep_reduction *", reduction | engine)


def _worth(extent: int, stride: int) -> tuple[bool, int]:
    """Return how good a dimension is for rows to stand side by side in; no result depends on it."""
    return abs(stride) == 1 and extent >= _WORTH_A_VECTOR, extent


def _places(shape: tuple[int, ...]) -> list[int]:
    """Return how far an element's row-major number moves in each dimension."""
    places = [1]
    for extent in shape[:0:-1]:
        places.append(places[-1] * extent)
    return places[::-1]


def _reducer_of(descriptor: Reduction, native: Native) -> Any:
    names = (native.isa, descriptor.op, descriptor.x.dtype, descriptor.out.dtype)
    return native.lib.ep_reducer_of(*(name.encode() for name in names))
