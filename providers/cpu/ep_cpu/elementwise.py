"""Elementwise kernels: an inner loop of the native table, walked over the merged geometry of a descriptor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ep
from ep_cpu.launch import Loop, LoopKernel
from ep_cpu.native import open_native
from ep_cpu.tiles import tiled

if TYPE_CHECKING:
    from ep_cpu.native import Native, Row

__all__ = ["VectorLoop"]


class VectorLoop(ep.Implementation):
    """One vectorised loop for each row of native/*.def, any strides, of any instruction set."""

    def accepts(self, descriptor: ep.Descriptor, info: ep.DeviceInfo) -> bool:
        del info
        row = row_of(descriptor.family, descriptor.op, tuple(spec.dtype for spec in descriptor.specs))
        if row not in open_native().rows:
            given, made = row[2:]
            message = f"{descriptor.family}/{descriptor.op}: no kernel from {given} to {made}; kernels are rows of native/*.def"
            raise ep.UnsupportedError(message)
        return True

    def compile(self, key: ep.KernelKey, device: ep.spi.Device) -> Loop:
        del device
        return loop_of(key, open_native())

    def create(self, descriptor: ep.Descriptor, device: ep.spi.Device, code: Loop) -> ep.Kernel:
        del device
        return LoopKernel(code, geometry_of(descriptor, code))


def loop_of(key: ep.KernelKey, native: Native) -> Loop:
    """Return what the descriptors of a key share."""
    scalar = key.scalars.index(True) if True in key.scalars else -1
    return Loop(
        native,
        native.rows[row_of(key.family, key.op, key.dtypes)],
        tuple(ep.dtype(dtype).itemsize for dtype in key.dtypes),
        scalar,
        key.compute,
    )


def row_of(family: str, op: str, dtypes: tuple[str, ...]) -> Row:
    """Return the row that takes operands of these dtypes, the output last."""
    return family, op, dtypes[0], dtypes[-1]


def geometry_of(descriptor: ep.Descriptor, loop: Loop) -> Any:
    """Return the native geometry of a descriptor."""
    geometry = tiled(descriptor.geometry)
    sizes = loop.itemsizes
    return loop.native.ffi.new(
        "ep_geometry *",
        {
            "row": loop.row,
            "size": geometry.size,
            "traffic": descriptor.nbytes_moved,
            "operands": len(sizes),
            "ndim": len(geometry.shape),
            "scalar": loop.scalar,
            "scalar_type": getattr(loop.native.lib, f"EP_{loop.number}"),
            "offset": [offset * size for offset, size in zip(geometry.offsets, sizes, strict=True)],
            "itemsize": sizes,
            "shape": geometry.shape,
            "stride": [
                [stride * size for stride in strides] for strides, size in zip(geometry.strides, sizes, strict=True)
            ],
            "attributes": descriptor.attributes,
        },
    )
