"""Commands: launches with kernel objects of their own, which a bound step enqueues and a graph keeps."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyopencl as cl

import ep
from ep_opencl.errors import failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_opencl.stream import ClStream

__all__ = ["Command", "CommandKernel", "Place"]

_enqueue: Final = cl.enqueue_nd_range_kernel


class Place(NamedTuple):
    """The two arguments of a memory: its buffer, and behind it where it begins, in elements.

    operand   : number of the memory
    argument  : number of the buffer's argument
    itemsize  : bytes of an element
    offset    : elements from the memory's first byte
    """

    operand: int
    argument: int
    itemsize: int
    offset: int


class Command(NamedTuple):
    """A kernel object, over how many work-items it runs, and its arguments, which are set; nobody else sets them.

    what : the op, for errors
    """

    what: str
    kernel: cl.Kernel
    size: tuple[int, ...]
    group: tuple[int, ...]
    arguments: list[Any]
    places: tuple[Place, ...]


class CommandKernel(ep.Kernel):
    """A kernel whose launches are commands, so that binding them and putting them into a graph comes by itself."""

    @abstractmethod
    def commands(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> tuple[Command, ...]:
        """Return a launch with these operands. Raises DeviceError."""

    def bind(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Callable[..., Any]:
        work = self.commands(memories, scalars)

        def run(stream: ClStream, _: Any, __: Any) -> None:
            for what, kernel, size, group, _, _ in work:
                try:
                    event = _enqueue(stream.queue, kernel, size, group)
                except cl.Error as error:
                    raise failure(error) from error
                stream.placed(event, what)

        return run
