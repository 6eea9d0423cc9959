"""Elementwise kernels: an inner loop of the native table, walked over the merged geometry of a descriptor."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ep
from ep_cpu.native import check, open_native

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_cpu.native import Native, Row

    Launch = Callable[[ep.Stream, tuple[ep.Memory, ...], tuple[Any, ...]], Any]

__all__ = ["VectorLoop"]

_TILED_FROM: Final = 1 << 14
_MOST_CUT: Final = 14  # two dimensions more are the 16 that the native geometry holds
_TILE: Final = (64, 16)  # rows and columns; columns of a power of two apart share few sets of a cache
_LEAST_TILE: Final = 8
_NOT_DOUBLES: Final = {"int64", "uint64", "complex64", "complex128"}
_FORMATS: Final = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": "Q",
    "float32": "f",
    "float64": "d",
    "complex64": "ff",
    "complex128": "dd",
}


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

    def compile(self, key: ep.KernelKey, device: ep.Device) -> Loop:
        del device
        return loop_of(key, open_native())

    def create(self, descriptor: ep.Descriptor, device: ep.Device, code: Loop) -> ep.Kernel:
        del device
        geometry = geometry_of(descriptor, code)
        return LoopKernel(code, geometry, code.launch(code, geometry))


class Loop(NamedTuple):
    """What all descriptors of one kernel key share.

    row          : the native row
    itemsizes    : of the operands
    scalar       : the operand that is a number given at launch, -1 if none is
    number       : dtype in which the kernel gets that number
    launch       : makes the launch over a geometry
    """

    native: Native
    row: Any
    itemsizes: tuple[int, ...]
    scalar: int
    number: str
    launch: Callable[[Loop, Any], Launch]


def loop_of(key: ep.KernelKey, native: Native) -> Loop:
    """Return the inner loop of a key's row, and how it is launched."""
    scalar = key.scalars.index(True) if True in key.scalars else -1
    launches = _LAUNCHES if scalar < 0 else _NUMBER_LAUNCHES if key.compute in _NOT_DOUBLES else _SCALAR_LAUNCHES
    return Loop(
        native,
        native.rows[row_of(key.family, key.op, key.dtypes)],
        tuple(ep.dtype(dtype).itemsize for dtype in key.dtypes),
        scalar,
        key.compute,
        launches[len(key.dtypes)],
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


def tiled(geometry: ep.Geometry) -> ep.Geometry:
    """Return the geometry with its last two dimensions cut into tiles that caches hold, if an operand runs across them."""
    shape, strides = geometry.shape, geometry.strides
    if geometry.size < _TILED_FROM or not 1 < len(shape) <= _MOST_CUT:
        return geometry
    if not any(0 < abs(own[-2]) < abs(own[-1]) for own in strides):
        return geometry
    rows, columns = (largest_divisor(extent, most) for extent, most in zip(shape[-2:], _TILE, strict=True))
    if columns < _LEAST_TILE:
        return geometry
    return geometry._replace(
        shape=(*shape[:-2], shape[-2] // rows, shape[-1] // columns, rows, columns),
        strides=tuple((*own[:-2], own[-2] * rows, own[-1] * columns, *own[-2:]) for own in strides),
    )


def largest_divisor(extent: int, most: int) -> int:
    """Return the largest divisor of `extent` that is at most `most`."""
    return next(divisor for divisor in range(most, 0, -1) if extent % divisor == 0)


class LoopKernel(ep.Kernel):
    """A geometry and the launch over it, which is a function of its own: it finds everything without looking it up."""

    __slots__ = ("_geometry", "_loop", "launch")

    launch: Launch  # type: ignore[assignment]  # a slot in place of the method: 25 ns a launch

    def __init__(self, loop: Loop, geometry: Any, launch: Launch) -> None:
        self._loop = loop
        self._geometry = geometry
        self.launch = launch

    def bind(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Launch:
        geometry, native = self._geometry, self._loop.native
        entry = native.lib.ep_elementwise
        packed = native.ffi.new("ep_packed *", {"geometry": geometry})
        if scalars:
            number = number_bytes(self._loop.number, scalars[0])
            native.ffi.memmove(packed.scalar, number, len(number))
        places = [k for k in range(geometry.operands) if k != geometry.scalar]
        for k, memory in zip(places, memories, strict=True):
            packed.at[k] = memory.handle + memory.offset

        # The default argument keeps the geometry, which `packed` only points to.
        def run(_: ep.Stream, __: Any, ___: Any, _kept: Any = geometry) -> None:
            if status := entry(packed):
                check(status, "ep_elementwise")

        return run


def number_bytes(dtype: str, value: Any) -> bytes:
    """Return a number as a kernel that computes in `dtype` reads it."""
    parts = (value.real, value.imag) if ep.dtype(dtype).kind == "c" else (value,)
    return struct.pack(_FORMATS[dtype], *parts)


def unary(loop: Loop, geometry: Any) -> Launch:
    """Return the launch from x to out."""
    enter = loop.native.lib.ep_launch2

    def launch(_: ep.Stream, memories: tuple[ep.Memory, ...], __: Any) -> None:
        x, out = memories
        if status := enter(geometry, x.handle + x.offset, out.handle + out.offset):
            check(status, "ep_launch2")

    return launch


def binary(loop: Loop, geometry: Any) -> Launch:
    """Return the launch from a and b to out."""
    enter = loop.native.lib.ep_launch3

    def launch(_: ep.Stream, memories: tuple[ep.Memory, ...], __: Any) -> None:
        a, b, out = memories
        if status := enter(geometry, a.handle + a.offset, b.handle + b.offset, out.handle + out.offset):
            check(status, "ep_launch3")

    return launch


def scalar_fill(loop: Loop, geometry: Any) -> Launch:
    """Return the launch from a number that a double holds to out."""
    enter = loop.native.lib.ep_launch2_scalar

    def launch(_: ep.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        (out,) = memories
        if status := enter(geometry, scalars[0], out.handle + out.offset):
            check(status, "ep_launch2_scalar")

    return launch


def scalar_binary(loop: Loop, geometry: Any) -> Launch:
    """Return the launch from a number that a double holds and a tensor, on whichever sides, to out."""
    enter = loop.native.lib.ep_launch3_scalar

    def launch(_: ep.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        other, out = memories
        if status := enter(geometry, scalars[0], other.handle + other.offset, out.handle + out.offset):
            check(status, "ep_launch3_scalar")

    return launch


def number_fill(loop: Loop, geometry: Any) -> Launch:
    """Return the launch from any number to out."""
    enter, dtype = loop.native.lib.ep_launch2_number, loop.number

    def launch(_: ep.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        (out,) = memories
        if status := enter(geometry, number_bytes(dtype, scalars[0]), out.handle + out.offset):
            check(status, "ep_launch2_number")

    return launch


def number_binary(loop: Loop, geometry: Any) -> Launch:
    """Return the launch from any number and a tensor, on whichever sides, to out."""
    enter, dtype = loop.native.lib.ep_launch3_number, loop.number

    def launch(_: ep.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        other, out = memories
        number = number_bytes(dtype, scalars[0])
        if status := enter(geometry, number, other.handle + other.offset, out.handle + out.offset):
            check(status, "ep_launch3_number")

    return launch


# By the number of operands.
_LAUNCHES: Final = {2: unary, 3: binary}
_SCALAR_LAUNCHES: Final = {2: scalar_fill, 3: scalar_binary}
_NUMBER_LAUNCHES: Final = {2: number_fill, 3: number_binary}
