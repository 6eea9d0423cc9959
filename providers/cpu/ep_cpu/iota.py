"""Iota: the walk of elementwise kernels over out and over places, which are addresses that no kernel reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import ep
from ep_cpu.command import Command, CommandKernel
from ep_cpu.elementwise import row_of
from ep_cpu.launch import number_bytes
from ep_cpu.native import check, open_native

if TYPE_CHECKING:
    from ep_primitives import Iota

    from ep_cpu.native import Native

__all__ = ["PlaceCount"]

_NUMBER: Final = 16
"""The bytes that the native side keeps for a number."""


class PlaceCount(ep.Implementation):
    """Each element from its own place, so that any part of out can be filled first: any strides, of any instruction set."""

    def accepts(self, descriptor: Iota, info: ep.DeviceInfo) -> bool:
        del info
        if _row(descriptor) not in open_native().rows:
            message = f"iota: no kernel for {descriptor.out.dtype}; kernels are rows of native/iotas.cpp"
            raise ep.UnsupportedError(message)
        return True

    def compile(self, key: ep.KernelKey, device: ep.spi.Device) -> Native:
        del key, device
        return open_native()

    def create(self, descriptor: Iota, device: ep.spi.Device, code: Native) -> ep.Kernel:
        del device
        return PlaceKernel(code, descriptor)


class PlaceKernel(CommandKernel):
    """The geometry of an output, and the type of a launch's numbers."""

    __slots__ = ("_geometry", "_native", "_number")

    def __init__(self, native: Native, descriptor: Iota) -> None:
        self._native = native
        self._number = descriptor.compute
        self._geometry = _geometry_of(descriptor, native)

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        del stream
        (out,) = memories
        start, step = self._numbers(scalars)
        status = self._native.lib.ep_launch_iota(self._geometry, out.handle + out.offset, start, step)
        check(status, "ep_launch_iota")

    def command(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Command:
        (out,) = memories
        start, step = self._numbers(scalars)
        ffi, geometry = self._native.ffi, self._geometry
        given = {"geometry": geometry, "out": out.handle + out.offset, "numbers": {"start": start, "step": step}}
        packed = ffi.new("ep_iota_packed *", given)
        return Command(self._native, "ep_iota", packed, (ffi.offsetof("ep_iota_packed", "out"),), geometry)

    def _numbers(self, scalars: tuple[Any, ...]) -> list[bytes]:
        return [number_bytes(self._number, number).ljust(_NUMBER, b"\0") for number in scalars]


def _row(descriptor: Iota) -> tuple[str, str, str, str]:
    return row_of(descriptor.family, descriptor.op, (descriptor.out.dtype, descriptor.out.dtype))


def _geometry_of(descriptor: Iota, native: Native) -> Any:
    """Return the native geometry: the numbers, which stay where they are, places along the axis in bytes, and out.

    Dimensions are walked in the order of out's strides, so that stores run along memory whatever the axis.
    """
    geometry, out = descriptor.geometry, descriptor.out
    strides = geometry.strides[-1]
    places = (*(0 for _ in strides[:-1]), 1)
    order = sorted(range(len(strides)), key=lambda k: -abs(strides[k]))
    return native.ffi.new(
        "ep_geometry *",
        {
            "row": native.rows[_row(descriptor)],
            "size": geometry.size,
            "traffic": out.size * out.itemsize,
            "operands": 3,
            "ndim": len(order),
            "scalar": -1,
            "offset": [0, 0, geometry.offsets[-1] * out.itemsize],
            "itemsize": [0, 1, out.itemsize],
            "shape": [geometry.shape[k] for k in order],
            "stride": [[0] * len(order), [places[k] for k in order], [strides[k] * out.itemsize for k in order]],
        },
    )
