"""CudaFunction: an entry of a program as the driver launches it."""

from __future__ import annotations

import struct
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ep
from ep_cuda.driver import ffi

if TYPE_CHECKING:
    from collections.abc import Callable

    import ep_simt

    from ep_cuda.device import CudaDevice
    from ep_cuda.stream import CudaStream

__all__ = ["CudaFunction", "Storage"]

# As struct packs them; a complex number is two.
_NUMBERS: Final = {
    "bool": "B",
    "i8": "b",
    "i16": "h",
    "i32": "i",
    "i64": "q",
    "u8": "B",
    "u16": "H",
    "u32": "I",
    "u64": "Q",
    "f32": "f",
    "f64": "d",
    "c64": "ff",
    "c128": "dd",
}
_PLACE: Final = 16
"""Each argument begins at a multiple of so many bytes, the largest alignment of any."""

_NULL: Final = ffi.NULL
_GROUP: Final = 256
_MOST_GROUPS: Final = (1 << 31) - 1  # CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X of every architecture since sm_30
_MOST_THREADS: Final = 0  # CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK

Grid = tuple[int, int]
"""The number of groups, and the number of work-items in each."""


class Storage(NamedTuple):
    """The arguments of one launch at a time: their bytes, and where each of them begins, as the driver wants it."""

    buffer: Any
    places: Any


class CudaFunction:
    """One entry of a program, shared by all descriptors of a kernel key; launches take turns with its storage.

    native : the driver's function in the device's context
    """

    def __init__(self, device: CudaDevice, program: ep_simt.Program, entry: ep_simt.Entry) -> None:
        """Find the entry in its program, which is compiled now if it was not. Raises CompileError."""
        library = device.library(program)
        with device.context as driver:
            # A library's kernel is launched in the context of its stream, which need not be current.
            self._kernel = driver.answer("cuLibraryGetKernel", "CUkernel", library, entry.name.encode())
            self.native = driver.answer("cuKernelGetFunction", "CUfunction", self._kernel)
            most = driver.answer("cuFuncGetAttribute", "int", _MOST_THREADS, self.native)
        formats = [_format_of(parameter) for parameter in entry.parameters]
        sizes = [-(-struct.calcsize(f"<{each}") // _PLACE) * _PLACE for each in formats]
        self._offsets = [sum(sizes[:place]) for place in range(len(sizes))]
        self._packed = struct.Struct("<" + "".join(map(_padded, formats, sizes)))
        self._complex = [
            place
            for place, each in enumerate(entry.parameters)
            if each.kind == "number" and each.type in {"c64", "c128"}
        ]
        self._group = min(_GROUP, most)
        self._spare: deque[Storage] = deque()

    def grid(self, items: int, group: int) -> Grid:
        """Return how many groups a launch has, and how many work-items a group. Raises UnsupportedError for more groups than CUDA has."""
        group = group or self._group
        groups = -(-items // group)
        if groups > _MOST_GROUPS:
            message = f"the kernel would take {groups} groups of {group} work-items, and CUDA launches {_MOST_GROUPS}; compute parts of the tensors one after the other"
            raise ep.UnsupportedError(message)
        return groups, group

    def launch(self, stream: CudaStream, what: str, grid: Grid, arguments: list[Any]) -> None:
        """Enqueue a launch. The driver has copied the arguments when it returns."""
        del what  # an error of the driver's names the enqueue through EP
        try:
            storage = self._spare.pop()
        except IndexError:
            storage = self.storage()
        self.fill(storage, arguments)
        self._run(stream, grid, storage.places)
        self._spare.append(storage)

    def prepared(self, command: ep_simt.Command) -> Callable[[CudaStream], None]:
        """Return a function that enqueues a command, whose arguments have storage of their own."""
        storage = self.storage()
        self.fill(storage, command.arguments)
        grid, places = command.grid, storage.places

        def run(stream: CudaStream, _: Storage = storage) -> None:
            self._run(stream, grid, places)

        return run

    def _run(self, stream: CudaStream, grid: Grid, places: Any) -> None:
        groups, group = grid
        stream.placed(
            "cuLaunchKernel",
            stream.launch(self._kernel, groups, 1, 1, group, 1, 1, 0, stream.native, places, _NULL),
        )

    def fill(self, storage: Storage, arguments: list[Any]) -> None:
        """Pack arguments into a storage."""
        if None in arguments:  # the handle of a memory without bytes
            arguments = [0 if each is None else each for each in arguments]
        if self._complex:
            arguments = [*arguments]
            for place in reversed(self._complex):
                number = arguments[place]
                arguments[place : place + 1] = number.real, number.imag
        self._packed.pack_into(storage.buffer, 0, *arguments)

    def storage(self) -> Storage:
        """Return new storage for the arguments of a launch."""
        memory = ffi.new("char[]", max(self._packed.size, 1))
        base = ffi.cast("char *", memory)
        places = ffi.new("void *[]", [base + offset for offset in self._offsets])
        return Storage(ffi.buffer(memory), places)


def _format_of(parameter: ep_simt.Parameter) -> str:
    if parameter.is_memory:
        return "Q"
    return f"{parameter.nbytes}s" if parameter.nbytes else _NUMBERS[parameter.type]


def _padded(form: str, size: int) -> str:
    return f"{form}{size - struct.calcsize(f'<{form}')}x"
