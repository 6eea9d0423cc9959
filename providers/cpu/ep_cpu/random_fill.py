"""Random fills: blocks of words, made into elements and put where the output lies; each element knows its words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ep
from ep_cpu.command import Command, CommandKernel
from ep_cpu.elementwise import row_of
from ep_cpu.native import check, open_native

if TYPE_CHECKING:
    from ep_primitives import RandomFill

    from ep_cpu.native import Native

__all__ = ["CounterFill"]


class CounterFill(ep.Implementation):
    """Words by their number, so that threads share no state: any strides, of any instruction set."""

    def accepts(self, descriptor: RandomFill, info: ep.DeviceInfo) -> bool:
        del info
        if _row(descriptor) not in open_native().rows:
            message = f"random_fill/{descriptor.op}: no kernel for {descriptor.out.dtype}; kernels are rows of native/draws.cpp"
            raise ep.UnsupportedError(message)
        return True

    def compile(self, key: ep.KernelKey, device: ep.spi.Device) -> Native:
        del key, device
        return open_native()

    def create(self, descriptor: RandomFill, device: ep.spi.Device, code: Native) -> ep.Kernel:
        del device
        return CounterKernel(code, descriptor)


class CounterKernel(CommandKernel):
    """The geometry of an output, and what its descriptor makes of a launch's numbers."""

    __slots__ = ("_geometry", "_limits", "_native")

    def __init__(self, native: Native, descriptor: RandomFill) -> None:
        self._native = native
        self._limits = descriptor.limits
        self._geometry = _geometry_of(descriptor, native)

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        del stream
        state, out = memories
        status = self._native.lib.ep_launch_random_fill(
            self._geometry, state.handle + state.offset, out.handle + out.offset, *self._limits(scalars)
        )
        check(status, "ep_launch_random_fill")

    def command(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Command:
        state, out = memories
        low, bound = self._limits(scalars)
        ffi, geometry = self._native.ffi, self._geometry
        addresses = {"state": state.handle + state.offset, "out": out.handle + out.offset}
        packed = ffi.new("ep_random_packed *", {"geometry": geometry, **addresses, "low": low, "bound": bound})
        places = tuple([ffi.offsetof("ep_random_packed", name) for name in addresses])
        return Command(self._native, "ep_random_fill", packed, places, geometry)


def _row(descriptor: RandomFill) -> tuple[str, str, str, str]:
    return row_of(descriptor.family, descriptor.op, ("uint64", descriptor.out.dtype))


def _geometry_of(descriptor: RandomFill, native: Native) -> Any:
    """Return the native geometry of the output alone, in the order of its elements."""
    geometry, out = descriptor.geometry, descriptor.out
    shape, strides = geometry.shape or (1,), geometry.strides[-1] or (1,)
    return native.ffi.new(
        "ep_geometry *",
        {
            "row": native.rows[_row(descriptor)],
            "size": geometry.size,
            "traffic": out.size * out.itemsize,
            "operands": 1,
            "ndim": len(shape),
            "scalar": -1,
            "offset": [geometry.offsets[-1] * out.itemsize],
            "shape": shape,
            "stride": [[stride * out.itemsize for stride in strides]],
        },
    )
