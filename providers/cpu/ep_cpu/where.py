"""Where: the walk of elementwise kernels over four operands; numbers are elements that stay where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ep
from ep_cpu.command import Command, CommandKernel
from ep_cpu.elementwise import VectorLoop, geometry_of
from ep_cpu.launch import LoopKernel, number_bytes
from ep_cpu.native import check

if TYPE_CHECKING:
    from ep_cpu.launch import Loop

__all__ = ["VectorSelect"]


class VectorSelect(VectorLoop):
    """Choices without branches, a vectorised loop for each size of elements; any strides, of any instruction set."""

    def create(self, descriptor: ep.Descriptor, device: ep.spi.Device, code: Loop) -> ep.Kernel:
        del device
        geometry = geometry_of(descriptor, code)
        is_number = tuple(isinstance(spec, ep.Scalar) for spec in descriptor.specs)
        return NumberSelect(code, geometry, is_number) if any(is_number) else LoopKernel(code, geometry)


class NumberSelect(CommandKernel):
    """A geometry of which some operands are numbers given at launch; `is_number` says which."""

    __slots__ = ("_geometry", "_is_number", "_loop")

    def __init__(self, loop: Loop, geometry: Any, is_number: tuple[bool, ...]) -> None:
        self._loop = loop
        self._geometry = geometry
        self._is_number = is_number

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        del stream
        addresses, a, b = self._placed(memories, scalars)
        check(self._loop.native.lib.ep_launch_where(self._geometry, *addresses, a, b), "ep_launch_where")

    def command(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Command:
        native = self._loop.native
        addresses, a, b = self._placed(memories, scalars)
        packed = native.ffi.new("ep_where_packed *", {"geometry": self._geometry, "at": addresses, "a": a, "b": b})
        places = [place for place, is_number in enumerate(self._is_number) if not is_number]
        offsets = tuple([native.ffi.offsetof("ep_where_packed", "at", place) for place in places])
        return Command(native, "ep_where", packed, offsets, self._geometry)

    def _placed(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> tuple[list[int], bytes, bytes]:
        """Return the address of each operand, 0 for a number, and the bytes of a and b."""
        tensors, numbers = iter(memories), iter(scalars)
        addresses, texts = [], []
        for is_number in self._is_number:
            memory = None if is_number else next(tensors)
            addresses.append(0 if memory is None else memory.handle + memory.offset)
            texts.append(number_bytes(self._loop.number, next(numbers)) if is_number else b"")
        return addresses, texts[1], texts[2]
