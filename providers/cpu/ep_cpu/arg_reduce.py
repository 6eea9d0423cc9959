"""Places of the largest and smallest elements: lanes remember in which of their rows the best one came first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ep
from ep_cpu.native import open_native
from ep_cpu.reduce import RowKernel, reduction_of

if TYPE_CHECKING:
    from ep_primitives import ArgReduce

    from ep_cpu.native import Native

__all__ = ["LaneSearch"]


class LaneSearch(ep.Implementation):
    """Vector lanes along a row or across rows, each with its best element; any strides, of any instruction set."""

    def accepts(self, descriptor: ArgReduce, info: ep.DeviceInfo) -> bool:
        del info
        native = open_native()
        if _seeker_of(descriptor, native) == native.ffi.NULL:
            message = f"arg_reduce/{descriptor.op}: no kernel for {descriptor.x.dtype}; kernels are rows of native/arg_reductions.cpp"
            raise ep.UnsupportedError(message)
        return True

    def compile(self, key: ep.KernelKey, device: ep.spi.Device) -> Native:
        del key, device
        return open_native()

    def create(self, descriptor: ArgReduce, device: ep.spi.Device, code: Native) -> ep.Kernel:
        del device
        return RowKernel(code, reduction_of(descriptor, code, seeker=_seeker_of(descriptor, code)), "arg_reduce")


def _seeker_of(descriptor: ArgReduce, native: Native) -> Any:
    names = (native.isa, descriptor.op, descriptor.x.dtype)
    return native.lib.ep_seeker_of(*(name.encode() for name in names))
