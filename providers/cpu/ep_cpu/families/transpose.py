"""Copies between tensors that are contiguous along different dimensions, as transposes are: by blocks, in registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ep_primitives import Copy

import ep
from ep_cpu.families.elementwise import VectorLoop
from ep_cpu.kernel import Plan, Planned

if TYPE_CHECKING:
    from ep_cpu.native import Native, Row

__all__ = ["IMPLEMENTATIONS", "BlockTranspose"]


class BlockTranspose(Planned):
    """Blocks of a matrix that both sides cross in opposite ways, elements of any type, among up to 14 more dimensions."""

    def row(self, descriptor: Copy) -> Row:
        return descriptor.family, "transpose", descriptor.out.dtype, descriptor.out.dtype

    def accepts(self, descriptor: Copy, info: ep.DeviceInfo) -> bool:
        if _crossing(descriptor.geometry) is None:
            message = "x and out are not contiguous along two different dimensions"
            raise ep.UnsupportedError(message)
        return super().accepts(descriptor, info)

    def plan(self, descriptor: Copy, native: Native) -> Plan:
        del native
        geometry, size = descriptor.geometry, descriptor.out.itemsize
        crossing = _crossing(geometry)
        assert crossing is not None
        strides = [list(each) for each in geometry.strides]
        offsets = list(geometry.offsets)
        # Backwards along either dimension is forwards from the other end.
        for axis, own in ((crossing.width, 0), (crossing.height, 1)):
            if strides[own][axis] < 0:
                for operand in range(2):
                    offsets[operand] += (geometry.shape[axis] - 1) * strides[operand][axis]
                    strides[operand][axis] *= -1
        x_strides, out_strides = ([stride * size for stride in own] for own in strides)
        rest = [axis for axis in range(len(geometry.shape)) if axis not in crossing]
        width, height = (geometry.shape[axis] for axis in crossing)
        fields = {
            "traffic": descriptor.nbytes_moved,
            "x_offset": offsets[0] * size,
            "out_offset": offsets[1] * size,
            "width": width,
            "height": height,
            "x_step": x_strides[crossing.height],
            "out_step": out_strides[crossing.width],
            "matrices": geometry.size // (width * height),
            "ndim": len(rest),
            "extent": [geometry.shape[axis] for axis in rest],
            "x_stride": [x_strides[axis] for axis in rest],
            "out_stride": [out_strides[axis] for axis in rest],
        }
        return Plan("ep_transpose_plan", fields)


class _Crossing(NamedTuple):
    """The dimension along which x is contiguous, and that along which out is."""

    width: int
    height: int


def _crossing(geometry: ep.Geometry) -> _Crossing | None:
    """Return the two dimensions of a transposition, in either direction; None if the copy is none."""
    x_strides, out_strides = geometry.strides
    width = [axis for axis, stride in enumerate(x_strides) if abs(stride) == 1]
    height = [axis for axis, stride in enumerate(out_strides) if abs(stride) == 1]
    if len(width) != 1 or len(height) != 1 or width == height:
        return None
    return _Crossing(width[0], height[0])


IMPLEMENTATIONS: Final = {Copy: (BlockTranspose(), VectorLoop())}
