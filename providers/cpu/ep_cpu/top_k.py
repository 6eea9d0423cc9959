"""TopK: the best elements so far in a heap, or all of a row put in order as far as it is asked for, in scratch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ep
from ep_cpu.command import Command, CommandKernel
from ep_cpu.native import check, open_native

if TYPE_CHECKING:
    from ep_primitives import TopK

    from ep_cpu.native import Native

__all__ = ["Selection"]


class Selection(ep.Implementation):
    """Elements as numbers of their order, compared with their places; every element type and stride."""

    def accepts(self, descriptor: TopK, info: ep.DeviceInfo) -> bool:
        del descriptor, info
        return True

    def compile(self, key: ep.KernelKey, device: ep.spi.Device) -> Native:
        del key, device
        return open_native()

    def create(self, descriptor: TopK, device: ep.spi.Device, code: Native) -> ep.Kernel:
        del device
        top = _described(descriptor, code)
        return SelectionKernel(code, top, code.lib.ep_top_k_scratch(top, descriptor.nbytes_moved))


class SelectionKernel(CommandKernel):
    """A described TopK, whose memories stand at the native places, scratch behind them."""

    __slots__ = ("_native", "_top", "scratch_nbytes")

    def __init__(self, native: Native, top: Any, scratch_nbytes: int) -> None:
        self._native = native
        self._top = top
        self.scratch_nbytes = scratch_nbytes

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        del stream, scalars
        if status := self._native.lib.ep_launch_top_k(self._top, *_addresses(memories)):
            check(status, "ep_launch_top_k")

    def command(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Command:
        del scalars
        ffi = self._native.ffi
        *tensors, scratch = _addresses(memories)
        packed = ffi.new("ep_top_k_packed *", {"top": self._top, "at": tensors, "scratch": scratch})
        places = [ffi.offsetof("ep_top_k_packed", "at", place) for place in range(len(tensors))]
        offsets = (*places, ffi.offsetof("ep_top_k_packed", "scratch"))
        return Command(self._native, "ep_select", packed, offsets, self._top)


def _addresses(memories: tuple[ep.Memory, ...]) -> list[int]:
    return [memory.handle + memory.offset for memory in memories]


def _described(descriptor: TopK, native: Native) -> Any:
    """Return the native description of a TopK, without what its scratch is like."""
    across = descriptor.across
    sizes = [spec.itemsize for spec in (descriptor.x, *descriptor.outputs.values())]
    return native.ffi.new(
        "ep_top_k *",
        {
            "dtype": getattr(native.lib, f"EP_{descriptor.x.dtype}"),
            "is_smallest": descriptor.op == "smallest",
            "is_sorted": descriptor.sorted,
            "ndim": len(across.shape),
            "itemsize": descriptor.x.itemsize,
            "rows": across.size,
            "extent": descriptor.extent,
            "k": descriptor.k,
            "offset": [offset * size for offset, size in zip(across.offsets, sizes, strict=True)],
            "step": [step * size for step, size in zip(descriptor.steps, sizes, strict=True)],
            "shape": across.shape,
            "stride": [[stride * size for stride in own] for own, size in zip(across.strides, sizes, strict=True)],
        },
    )
