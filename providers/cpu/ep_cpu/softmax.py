"""Softmaxes by chunks: each row, or tile of neighbouring columns, in passes over pieces that fit the caches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import ep
from ep_cpu.command import Command, CommandKernel
from ep_cpu.native import check, open_native

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_primitives.descriptors.axis_descriptor import AxisDescriptor

    from ep_cpu.native import Native

__all__ = ["ChunkedRows", "described"]

_KINDS: Final[Mapping[str, str]] = {
    "softmax": "EP_SOFTMAX",
    "log_softmax": "EP_LOG_SOFTMAX",
    "softmax_backward": "EP_SOFTMAX_BACKWARD",
    "log_softmax_backward": "EP_LOG_SOFTMAX_BACKWARD",
}
_PLACES: Final = 3
_FEWEST_COLUMNS: Final = 4
"""With fewer rows side by side, vectors along each one are faster. The result is the same."""


class ChunkedRows(ep.Implementation):
    """Maxima and sums of fixed chunks of each row, whatever the strides and the threads; every floating type."""

    def accepts(self, descriptor: AxisDescriptor, info: ep.DeviceInfo) -> bool:
        del info
        if descriptor.family not in _KINDS:
            message = f"{descriptor.family}: no kernel; kernels of rows are in native/softmax_ops.h"
            raise ep.UnsupportedError(message)
        return True

    def compile(self, key: ep.KernelKey, device: ep.spi.Device) -> Native:
        del key, device
        return open_native()

    def create(self, descriptor: AxisDescriptor, device: ep.spi.Device, code: Native) -> ep.Kernel:
        del device
        return ChunkedKernel(code, described(descriptor, code), len(descriptor.operands))


class ChunkedKernel(CommandKernel):
    """A described softmax and the native places of its memories: a forward form has nothing at the second one."""

    __slots__ = ("_has_y", "_native", "_softmax")

    def __init__(self, native: Native, softmax: Any, operands: int) -> None:
        self._native = native
        self._softmax = softmax
        self._has_y = operands == _PLACES

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        del stream, scalars
        check(self._native.lib.ep_launch_softmax(self._softmax, *self._addresses(memories)), "ep_launch_softmax")

    def command(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Command:
        del scalars
        ffi, softmax = self._native.ffi, self._softmax
        packed = ffi.new("ep_softmax_packed *", {"softmax": softmax, "at": self._addresses(memories)})
        places = (0, 1, 2) if self._has_y else (0, 2)
        offsets = tuple([ffi.offsetof("ep_softmax_packed", "at", place) for place in places])
        return Command(self._native, "ep_soften", packed, offsets, softmax)

    def _addresses(self, memories: tuple[ep.Memory, ...]) -> tuple[int, int, int]:
        given, *y, made = [memory.handle + memory.offset for memory in memories]
        return given, y[0] if self._has_y else 0, made


def described(descriptor: AxisDescriptor, native: Native) -> Any:
    """Return the native description of a softmax."""
    geometry, size = descriptor.geometry, descriptor.out.itemsize
    *across, extent = geometry.shape
    strides = [[stride * size for stride in over] for over in geometry.strides]
    offsets = [offset * size for offset in geometry.offsets]
    lies_in_columns = (
        bool(across) and across[-1] >= _FEWEST_COLUMNS and all(over[-2] == size != over[-1] for over in strides)
    )
    if len(strides) < _PLACES:
        strides.insert(1, [0] * len(geometry.shape))
        offsets.insert(1, 0)
    return native.ffi.new(
        "ep_softmax *",
        {
            "engine": native.lib.ep_softmax_engine_of(native.isa.encode()),
            "kind": getattr(native.lib, _KINDS[descriptor.family]),
            "dtype": getattr(native.lib, f"EP_{descriptor.out.dtype}"),
            "columns": lies_in_columns,
            "ndim": len(across),
            "traffic": descriptor.nbytes_moved,
            "extent": extent,
            "offset": offsets,
            "step": [over[-1] for over in strides],
            "shape": across,
            "stride": [over[:-1] for over in strides],
        },
    )
