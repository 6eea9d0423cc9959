"""Copies between tensors that are contiguous along different dimensions, as transposes are: by blocks, in registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import ep
from ep_cpu.command import Command, CommandKernel
from ep_cpu.native import check, open_native

if TYPE_CHECKING:
    from ep_primitives import Copy

    from ep_cpu.native import Native

__all__ = ["BlockTranspose"]


class BlockTranspose(ep.Implementation):
    """Blocks of a matrix that both sides cross in opposite ways, elements of any type, among up to 14 more dimensions."""

    def accepts(self, descriptor: Copy, info: ep.DeviceInfo) -> bool:
        del info
        if _crossing(descriptor.geometry) is None:
            message = "x and out are not contiguous along two different dimensions"
            raise ep.UnsupportedError(message)
        return True

    def compile(self, key: ep.KernelKey, device: ep.spi.Device) -> Native:
        del key, device
        return open_native()

    def create(self, descriptor: Copy, device: ep.spi.Device, code: Native) -> ep.Kernel:
        del device
        return BlockKernel(code, described(descriptor, code))


class BlockKernel(CommandKernel):
    """A described transposition."""

    __slots__ = ("_native", "_transposition")

    def __init__(self, native: Native, transposition: Any) -> None:
        self._native = native
        self._transposition = transposition

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        del stream, scalars
        x, out = memories
        status = self._native.lib.ep_launch_transpose(self._transposition, x.handle + x.offset, out.handle + out.offset)
        check(status, "ep_launch_transpose")

    def command(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Command:
        del scalars
        ffi, transposition = self._native.ffi, self._transposition
        addresses = [memory.handle + memory.offset for memory in memories]
        packed = ffi.new("ep_transpose_packed *", (transposition, *addresses))
        places = tuple([ffi.offsetof("ep_transpose_packed", name) for name in ("x", "out")])
        return Command(self._native, "ep_transpose", packed, places, transposition)


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


def described(descriptor: Copy, native: Native) -> Any:
    """Return the native description of a transposition."""
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
    return native.ffi.new(
        "ep_transposition *",
        {
            "transposer": native.lib.ep_transposer_of(native.isa.encode(), size),
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
        },
    )
