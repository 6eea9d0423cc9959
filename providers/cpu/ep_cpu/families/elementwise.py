"""Elementwise kernels: an inner loop of the native table, walked over the merged geometry of a descriptor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ep_primitives import BroadcastBinary, Cast, ElementwiseUnary, Fill, SaturatingCast

import ep
from ep_cpu.kernel import Tabled
from ep_cpu.launch import Loop, LoopKernel
from ep_cpu.native import open_native
from ep_cpu.tiles import in_order_of_input, tiled, turned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_cpu.native import Native

__all__ = ["IMPLEMENTATIONS", "VectorLoop", "geometry_of", "loop_of", "walk_of"]

_STORED: Final = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64", 16: "complex128"}
"""A type of each size: turned elements are as they are stored."""


class VectorLoop(Tabled):
    """One vectorised loop for each row of the table, any strides, of any instruction set."""

    def compile(self, key: ep.KernelKey, device: ep.spi.Device) -> Loop:
        del device
        return loop_of(key, open_native())

    def create(self, descriptor: ep.Descriptor, device: ep.spi.Device, code: Loop) -> ep.Kernel:
        del device
        return LoopKernel(code, _prepared(descriptor, code))


def loop_of(key: ep.KernelKey, native: Native) -> Loop:
    """Return the loop that all descriptors of a key share."""
    scalar = key.scalars.index(True) if True in key.scalars else -1
    sizes = tuple(ep.dtype(dtype).itemsize for dtype in key.dtypes)
    row = native.rows[key.family, key.op, key.dtypes[0], key.dtypes[-1]]
    number_type, kind = getattr(native.lib, f"EP_{key.compute}"), native.ffi.typeof("ep_geometry *")
    dense = {
        "row": row,
        "operands": len(sizes),
        "ndim": 1,
        "scalar": scalar,
        "scalar_type": number_type,
        "itemsize": sizes,
        "stride": [[0 if is_number else size] for size, is_number in zip(sizes, key.scalars, strict=True)],
    }
    return Loop(native, row, sizes, scalar, key.compute, number_type, kind, native.ffi.new(kind, dense))


def _prepared(descriptor: ep.Descriptor, loop: Loop) -> Any:
    """Return the native geometry of a descriptor. Dense ones, the most, are the loop's with a few fields set: 2 us less."""
    geometry, new = descriptor.geometry, loop.native.ffi.new
    if not geometry.is_dense or not geometry.shape or any(geometry.offsets):
        return new(loop.kind, geometry_of(descriptor, loop))
    made = new(loop.kind, loop.dense[0])
    made.size = made.shape[0] = geometry.size
    made.traffic = descriptor.nbytes_moved
    if descriptor.attributes:
        made.attributes = descriptor.attributes
    return made


def geometry_of(descriptor: ep.Descriptor, loop: Loop) -> dict[str, Any]:
    """Return the fields of the native geometry of a descriptor."""
    geometry, crosses = turned(descriptor.geometry)
    fields = {
        "row": loop.row,
        "scalar": loop.scalar,
        "scalar_type": loop.number_type,
        "attributes": descriptor.attributes,
    }
    if any(crosses):
        fields["turned"] = [
            loop.native.rows["copy", "transpose", _STORED[size], _STORED[size]] if turns else loop.native.ffi.NULL
            for size, turns in zip(loop.itemsizes, crosses, strict=True)
        ]
    else:
        geometry = tiled(in_order_of_input(geometry, loop.itemsizes))
    return walk_of(geometry, loop.itemsizes, descriptor.nbytes_moved) | fields


def walk_of(geometry: ep.Geometry, itemsizes: Sequence[int], traffic: int) -> dict[str, Any]:
    """Return the fields that say where a walk goes, of operands with elements of those sizes; it moves `traffic` bytes."""
    return {
        "size": geometry.size,
        "traffic": traffic,
        "operands": len(itemsizes),
        "ndim": len(geometry.shape),
        "offset": [offset * size for offset, size in zip(geometry.offsets, itemsizes, strict=True)],
        "itemsize": itemsizes,
        "shape": geometry.shape,
        "stride": [
            [stride * size for stride in strides] for strides, size in zip(geometry.strides, itemsizes, strict=True)
        ],
    }


_LOOPS: Final = (VectorLoop(),)

IMPLEMENTATIONS: Final = {
    ElementwiseUnary: _LOOPS,
    BroadcastBinary: _LOOPS,
    Cast: _LOOPS,
    SaturatingCast: _LOOPS,
    Fill: _LOOPS,
}
