"""Pad: rows of the output, each of a left border, a run of x and a right border, over the fewest dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import ep
from ep_cpu.command import Command, CommandKernel
from ep_cpu.launch import number_bytes
from ep_cpu.native import check, open_native

if TYPE_CHECKING:
    from ep_primitives import Pad

    from ep_cpu.native import Native

__all__ = ["RowRuns"]


class RowRuns(ep.Implementation):
    """Runs of whole rows, copied or filled; elements are bytes, so every element type, stride and mode."""

    def accepts(self, descriptor: Pad, info: ep.DeviceInfo) -> bool:
        del info
        if _row(descriptor) not in open_native().rows:
            message = f"no storage for {descriptor.out.dtype}; element types are rows of native/dtypes.def"
            raise ep.UnsupportedError(message)
        return True

    def compile(self, key: ep.KernelKey, device: ep.spi.Device) -> Native:
        del key, device
        return open_native()

    def create(self, descriptor: Pad, device: ep.spi.Device, code: Native) -> ep.Kernel:
        del device
        return RunKernel(code, descriptor)


class RunKernel(CommandKernel):
    """A described Pad, and the type of its number."""

    __slots__ = ("_compute", "_native", "_pad")

    def __init__(self, native: Native, descriptor: Pad) -> None:
        self._native = native
        self._compute = descriptor.compute
        self._pad = described(descriptor, native)

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        del stream
        x, out = memories
        # An x without elements may stand in a memory without bytes, which has no handle.
        address = (x.handle or 0) + x.offset
        status = self._native.lib.ep_launch_pad(self._pad, address, out.handle + out.offset, self._number(scalars))
        check(status, "ep_launch_pad")

    def command(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Command:
        ffi, pad = self._native.ffi, self._pad
        addresses = [(memory.handle or 0) + memory.offset for memory in memories]
        packed = ffi.new("ep_pad_packed *", (pad, *addresses))
        number = self._number(scalars)
        ffi.memmove(packed.value, number, len(number))
        places = tuple([ffi.offsetof("ep_pad_packed", name) for name in ("x", "out")])
        return Command(self._native, "ep_pad_borders", packed, places, pad)

    def _number(self, scalars: tuple[Any, ...]) -> bytes:
        (value,) = scalars
        return b"" if value is None else number_bytes(self._compute, value)


class _Dimension(NamedTuple):
    """Extents of out and x, elements in front of x, steps in elements."""

    extent: int
    source: int
    before: int
    x_step: int
    out_step: int

    @property
    def is_plain(self) -> bool:
        """True if nothing is padded or cropped."""
        return self.extent == self.source and not self.before

    def joined(self, inner: _Dimension) -> _Dimension:
        """Return this dimension with a plain one inside it as one."""
        each = inner.extent
        return _Dimension(self.extent * each, self.source * each, self.before * each, inner.x_step, inner.out_step)


def described(descriptor: Pad, native: Native) -> Any:
    """Return the native description of a Pad."""
    x, out, size = descriptor.x, descriptor.out, descriptor.out.itemsize
    dimensions = _merged(descriptor)
    steps = [dimension.out_step for dimension in dimensions]
    contiguous = ep.layout.spec.dense_strides(tuple(dimension.extent for dimension in dimensions))
    return native.ffi.new(
        "ep_pad *",
        {
            "storage": native.rows[_row(descriptor)].to,
            "mode": getattr(native.lib, f"EP_PAD_{descriptor.op.upper()}"),
            "ndim": len(dimensions),
            "is_contiguous": tuple(steps) == contiguous,
            "size": out.size,
            "traffic": descriptor.nbytes_moved,
            "x_offset": x.offset * size,
            "out_offset": out.offset * size,
            "dimension": [
                (extent, source, before, x_step * size, out_step * size)
                for extent, source, before, x_step, out_step in dimensions
            ],
        },
    )


def _merged(descriptor: Pad) -> list[_Dimension]:
    """Return the fewest dimensions that visit the same elements, outermost first by the strides of out, at least one.

    A plain dimension becomes one with that around it, where both operands cross them in one step; around it there may
    be padding only in modes that repeat or leave out whole elements in order.
    """
    x, out = descriptor.x, descriptor.out
    given = zip(out.shape, x.shape, descriptor.before, x.strides, out.strides, strict=True)
    dimensions = [_seen(*each) for each in given if each[:3] != (1, 1, 0)]
    dimensions.sort(key=lambda each: -abs(each.out_step))
    in_order = descriptor.op in {"constant", "circular"}
    merged: list[_Dimension] = []
    for inner in dimensions:
        outer = merged[-1] if merged else None
        if (
            outer is not None
            and inner.is_plain
            and (in_order or outer.is_plain)
            and outer.out_step == inner.out_step * inner.extent
            and (outer.source == 1 or outer.x_step == inner.x_step * inner.extent)
        ):
            merged[-1] = outer.joined(inner)
        else:
            merged.append(inner)
    return merged or [_Dimension(1, 1, 0, 1, 1)]


def _seen(extent: int, source: int, before: int, x_step: int, out_step: int) -> _Dimension:
    """Return a dimension; where nothing of x is left, counts of any size do not matter."""
    if before >= extent or before + source <= 0:
        source = before = 0
    return _Dimension(extent, source, before, x_step, out_step)


def _row(descriptor: Pad) -> tuple[str, str, str, str]:
    """Return the native row that names the storage of the elements."""
    return "copy", "-", descriptor.out.dtype, descriptor.out.dtype
