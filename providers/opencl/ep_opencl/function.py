"""ClFunction: an entry of a program as OpenCL launches it; no two launches share a kernel object at one time."""

from __future__ import annotations

import sqlite3
from collections import deque
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyopencl as cl

import ep
from ep_opencl.command import Command
from ep_opencl.errors import failure
from ep_opencl.setters import keep_setters

if TYPE_CHECKING:
    import ep_simt

    from ep_opencl.device import ClDevice
    from ep_opencl.stream import ClStream

__all__ = ["ClFunction"]

_NUMBERS: Final = {
    "bool": np.uint8,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
    "c128": np.complex128,
}

# A CPU's work-item is a loop of its own, and a loop around it would be one more for the compiler to make.
_CPU: Final = 1
_GPU: Final = 256

_CURE: Final = "remove that file, or start with PYOPENCL_NO_CACHE=1"

_enqueue: Final = cl.enqueue_nd_range_kernel

Grid = tuple[tuple[int], tuple[int]]
"""The number of all work-items, and the number in a group."""


class ClFunction:
    """One entry of a program, shared by all descriptors of a kernel key; launches take turns with its kernel objects.

    Every group has the same size for one entry, because some drivers compile an entry again for each size.
    """

    def __init__(self, device: ClDevice, program: ep_simt.Program, entry: ep_simt.Entry) -> None:
        self._name = entry.name
        self._native = device.program(program)
        self._types = [_type_of(parameter) for parameter in entry.parameters]
        self._spare: deque[cl.Kernel] = deque()
        wanted = _CPU if device.is_cpu else _GPU
        kernel = self._made()
        most = kernel.get_work_group_info(cl.kernel_work_group_info.WORK_GROUP_SIZE, device.native)
        self._group = min(wanted, most)
        self._spare.append(kernel)

    def grid(self, items: int, group: int) -> Grid:
        """Return how many work-items a launch has in all, and in a group."""
        group = group or self._group
        return (-(-items // group) * group,), (group,)

    def launch(self, stream: ClStream, what: str, grid: Grid, arguments: list[Any]) -> None:
        """Enqueue a launch with a kernel object that no other launch uses meanwhile, not even a handler's."""
        try:
            kernel = self._spare.pop()
        except IndexError:
            kernel = self._made()
        try:
            kernel.set_args(*arguments)
            event = _enqueue(stream.queue, kernel, *grid)
        except cl.Error as error:
            raise failure(error) from error
        self._spare.append(kernel)
        stream.placed(event, what)

    def prepared(self, command: ep_simt.Command) -> Any:
        """Return a function that enqueues a command with a kernel object of its own."""
        what, kernel, size, group, _, _ = self.command(command)

        def run(stream: ClStream) -> None:
            try:
                event = _enqueue(stream.queue, kernel, size, group)
            except cl.Error as error:
                raise failure(error) from error
            stream.placed(event, what)

        return run

    def command(self, command: ep_simt.Command) -> Command:
        """Return a command with a kernel object of its own, whose arguments are set."""
        kernel = self._made()
        try:
            kernel.set_args(*command.arguments)
        except cl.Error as error:
            raise failure(error) from error
        size, group = command.grid
        return Command(command.what, kernel, size, group, command.arguments, command.places)

    def _made(self) -> cl.Kernel:
        """Return a kernel object with argument storage of its own."""
        try:
            keep_setters()
            kernel = cl.Kernel(self._native, self._name)
            kernel.set_scalar_arg_dtypes(self._types)
        except cl.Error as error:
            raise failure(error) from error
        except sqlite3.Error as error:  # only if other code imported pyopencl first, or switched it on
            message = f"pyopencl's own database, pytools/*.sqlite in the user's cache folder, cannot be used ({error}); {_CURE}"
            raise ep.DeviceError(message, provider="opencl", call="pyopencl.Kernel", code=str(error)) from error
        return kernel


def _type_of(parameter: ep_simt.Parameter) -> Any:
    """Return the type of an argument for pyopencl: None for a memory."""
    if parameter.is_memory:
        return None
    return np.dtype(("V", parameter.nbytes) if parameter.nbytes else _NUMBERS[parameter.type])
