"""Quantize and Dequantize: the walk of elementwise kernels over x, scale, zero point and out, all read and written once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep.layout.dims import merge
from ep_primitives import Dequantize, Quantize

import ep
from ep_cpu.families.elementwise import walk_of
from ep_cpu.kernel import Plan, Planned
from ep_cpu.tiles import tiled

if TYPE_CHECKING:
    from ep_primitives.families.quantization.descriptor import Piece

    from ep_cpu.native import Native

__all__ = ["IMPLEMENTATIONS", "VectorQuantization"]


class VectorQuantization(Planned):
    """A vectorised loop for each pair of element types; scales of a tensor, of an axis, or of blocks that leave no rest."""

    def accepts(self, descriptor: Quantize | Dequantize, info: ep.DeviceInfo) -> bool:
        if len(_pieces(descriptor)) != 1:
            message = f"{descriptor.family}: blocks of {descriptor.block} leave a rest along axis {descriptor.axis} of {descriptor.x.shape}; such blocks are lowered"
            raise ep.UnsupportedError(message)
        return super().accepts(descriptor, info)

    def plan(self, descriptor: Quantize | Dequantize, native: Native) -> Plan:
        del native
        (piece,) = _pieces(descriptor)
        scale, zero_point = piece.scale, piece.zero_point
        geometry = merge(piece.out, (piece.x, scale, zero_point, piece.out))
        integers = (piece.out if descriptor.family == "quantize" else piece.x).itemsize
        sizes = (piece.x.itemsize, scale.itemsize, integers, piece.out.itemsize)
        walk = walk_of(tiled(geometry), sizes, descriptor.nbytes_moved)
        return Plan("ep_geometry", walk | {"scalar": zero_point is None})


def _pieces(descriptor: Quantize | Dequantize) -> list[Piece]:
    return list(descriptor.pieces(descriptor.scale, descriptor.zero_point))


IMPLEMENTATIONS: Final = {Quantize: (VectorQuantization(),), Dequantize: (VectorQuantization(),)}
