"""KernelNode: a launch as a node of a graph, whose arguments may follow other memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ep_cuda.driver import ffi

if TYPE_CHECKING:
    import ep_simt

__all__ = ["KernelNode"]


class KernelNode:
    """One launch, with argument storage of its own.

    parameters : as the driver takes them; they are of the arguments that `fill` has packed last
    native     : the driver's node, once it was added to a graph
    """

    def __init__(self, command: ep_simt.Command) -> None:
        """Pack the arguments of a command, whose function is a CudaFunction."""
        self._function = command.function
        self._arguments = command.arguments
        self._places = command.places
        self._storage = self._function.storage()
        groups, group = command.grid
        sizes = groups, 1, 1, group, 1, 1, 0
        kernel = self._function.native, *sizes, self._storage.places, ffi.NULL, ffi.NULL, ffi.NULL
        self.parameters = ffi.new("CUDA_KERNEL_NODE_PARAMS *", kernel)
        self.native: Any = ffi.NULL
        self.fill()

    def point(self, operand: int, handle: int, start: int) -> None:
        """Let the arguments of an operand follow a memory from byte `start` of an allocation on; `fill` comes after that."""
        for place in self._places:
            if place.operand == operand:
                self._arguments[place.argument] = handle
                self._arguments[place.argument + 1] = start // place.itemsize + place.offset

    def fill(self) -> None:
        """Pack the arguments."""
        self._function.fill(self._storage, self._arguments)
