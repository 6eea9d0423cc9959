"""ClKernel: an entry of a program with the geometry of one descriptor."""

from __future__ import annotations

import sqlite3
from collections import deque
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyopencl as cl
from ep_simt import calls_of, geometry_nbytes

import ep
from ep_opencl.command import Command, CommandKernel, Place
from ep_opencl.errors import failure

if TYPE_CHECKING:
    from ep_simt import Parameter, Program, RandomProgram

    from ep_opencl.device import ClDevice

__all__ = ["ClKernel", "Entry"]

_NUMBERS: Final = {
    "bool": np.uint8,
    "i32": np.int32,
    "i64": np.int64,
    "u64": np.uint64,
    "f32": np.float32,
    "f64": np.float64,
}

# On a CPU a work-item is a loop over its run, which becomes vectors, and a group costs about as much as a call. Rows may
# be short, so that a group of a strided program holds many.
_CPU: Final = {False: (1, 4096), True: (64, 64)}
_GPU: Final = (256, 1)

_CURE: Final = "remove that file, or start with PYOPENCL_NO_CACHE=1"

_enqueue: Final = cl.enqueue_nd_range_kernel


class Entry:
    """One kernel of a program, shared by all descriptors of a kernel key.

    Every group has the same size for one entry, because some drivers compile an entry again for each size.
    """

    def __init__(
        self,
        device: ClDevice,
        program: Program | RandomProgram,
        name: str,
        parameters: tuple[Parameter, ...] | None = None,
    ) -> None:
        """Take a kernel from a program; `parameters` are its own if they are not those of the program."""
        self.program = program
        self.name = name
        wanted, self.run = _CPU[program.strided] if device.is_cpu else _GPU
        parameters = program.parameters if parameters is None else parameters
        self._native = device.program(program)
        self._types = [
            None if parameter.role == "memory" else _type_of(parameter.element, program) for parameter in parameters
        ]
        self._spare: deque[cl.Kernel] = deque()
        kernel = self.make()
        most = kernel.get_work_group_info(cl.kernel_work_group_info.WORK_GROUP_SIZE, device.native)
        self.group = min(wanted, most)
        self.give(kernel)

    def take(self) -> cl.Kernel:
        """Return a kernel object that nobody sets arguments of until it is given back: not even who interrupts."""
        try:
            return self._spare.pop()
        except IndexError:
            return self.make()

    def give(self, kernel: cl.Kernel) -> None:
        """Leave a kernel object to the next launch."""
        self._spare.append(kernel)

    def make(self) -> cl.Kernel:
        """Return a kernel object with argument storage of its own."""
        try:
            kernel = cl.Kernel(self._native, self.name)
            kernel.set_scalar_arg_dtypes(self._types)
        except cl.Error as error:
            raise failure(error) from error
        except sqlite3.Error as error:  # only where somebody else imported pyopencl first, or switched it on
            message = f"pyopencl's own database, pytools/*.sqlite in the user's cache folder, cannot be used ({error}); {_CURE}"
            raise ep.DeviceError(message, provider="opencl", call="pyopencl.Kernel", code=str(error)) from error
        return kernel


class ClKernel(CommandKernel):
    """An entry for one descriptor. Launches take turns with the entry's kernel objects; a bound step owns one."""

    __slots__ = ("_arguments", "_entry", "_global", "_group", "_places", "_what")

    def __init__(self, entry: Entry, descriptor: ep.Descriptor) -> None:
        (call,) = calls_of(entry.program, descriptor, entry.run)
        self._entry = entry
        self._what = descriptor.title
        self._group = (entry.group,)
        self._global = (-(-call.items // entry.group) * entry.group,)
        self._arguments = call.arguments
        self._places = call.places

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        arguments = self._arguments(memories, scalars)
        kernel = self._entry.take()
        try:
            kernel.set_args(*arguments)
            event = _enqueue(stream.queue, kernel, self._global, self._group)  # type: ignore[attr-defined]  # streams of this device are ClStreams
        except cl.Error as error:
            raise failure(error) from error
        self._entry.give(kernel)
        stream.placed(event, self._what)  # type: ignore[attr-defined]  # likewise

    def commands(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> tuple[Command, ...]:
        kernel, arguments = self._entry.make(), self._arguments(memories, scalars)
        try:
            kernel.set_args(*arguments)
        except cl.Error as error:
            raise failure(error) from error
        places: list[Place] = []
        index = 0
        for itemsize, offset in self._places:
            if itemsize:
                places.append(Place(len(places), index, itemsize, offset))
            index += 2 if itemsize else 1
        return (Command(self._what, kernel, self._global, self._group, arguments, tuple(places)),)


def _type_of(element: str, program: Program | RandomProgram) -> Any:
    return np.dtype(_NUMBERS[element]) if element else np.dtype(("V", geometry_nbytes(program)))
