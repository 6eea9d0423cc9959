"""Random fills: the portable body, and behind it on the same queue the one that advances the state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ep_simt
import pyopencl as cl

import ep
from ep_opencl.command import Command, CommandKernel, Place
from ep_opencl.errors import failure
from ep_opencl.kernel import Entry

if TYPE_CHECKING:
    from ep_primitives import RandomFill

    from ep_opencl.device import ClDevice
    from ep_opencl.stream import ClStream

__all__ = ["PortableRandom"]

_WORD: Final = 8
_BLOCK: Final = 4
"""Words of one block: a work-item takes at least so many elements."""
_ONE: Final = (1,)
_WHAT: Final = "random_fill"

_enqueue: Final = cl.enqueue_nd_range_kernel


class Entries(NamedTuple):
    """What the descriptors of one kernel key share."""

    fill: Entry
    advance: Entry


class PortableRandom(ep.Implementation):
    """The portable bodies of ep_simt for random fills."""

    def accepts(self, descriptor: RandomFill, info: ep.DeviceInfo) -> bool:
        if descriptor.out.dtype == "float64" and "fp64" not in info.features:
            message = f"{info.name} has no float64"
            raise ep.UnsupportedError(message)
        return True

    def compile(self, key: ep.KernelKey, device: ClDevice) -> Entries:  # type: ignore[override]  # a provider gets its own devices
        program = ep_simt.random_program_of(key)
        return Entries(
            Entry(device, program, ep_simt.random_entry_of(key)),
            Entry(device, program, ep_simt.ADVANCE, ep_simt.ADVANCE_PARAMETERS),
        )

    def create(self, descriptor: RandomFill, device: ep.Device, code: Entries) -> ClRandomKernel:
        del device
        return ClRandomKernel(code, descriptor)


class ClRandomKernel(CommandKernel):
    """Both entries for one descriptor. Launches share their kernel objects, under a lock; a bound step owns two."""

    __slots__ = ("_entries", "_geometry", "_global", "_group", "_itemsize", "_limits", "_offset", "_words")

    def __init__(self, entries: Entries, descriptor: RandomFill) -> None:
        fill = entries.fill
        visit = ep_simt.visit_of(fill.program, descriptor, max(fill.run, _BLOCK))
        self._entries = entries
        self._limits = descriptor.limits
        self._words = descriptor.words
        self._geometry = visit.geometry
        self._offset = visit.offsets[0]
        self._itemsize = descriptor.out.itemsize
        self._group = (fill.group,)
        self._global = (-(-visit.items // fill.group) * fill.group,)

    def launch(self, stream: ep.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        fill, advance = self._entries
        with fill.lock:
            self._set(fill.kernel, advance.kernel, memories, scalars)
            self._run(stream, fill.kernel, advance.kernel)  # type: ignore[arg-type]  # streams of this device are ClStreams

    def commands(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> tuple[Command, ...]:
        fill, advance = (entry.make() for entry in self._entries)
        filling, advancing = self._set(fill, advance, memories, scalars)
        state, out = Place(0, 0, _WORD, 0), Place(1, 2, self._itemsize, self._offset)
        return (
            Command(_WHAT, fill, self._global, self._group, filling, (state, out)),
            Command(_WHAT, advance, _ONE, _ONE, advancing, (state,)),
        )

    def _set(
        self, fill: cl.Kernel, advance: cl.Kernel, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]
    ) -> tuple[list[Any], list[Any]]:
        """Set the arguments of both kernels, and return them."""
        state, out = memories
        place = (state.handle, state.offset // _WORD)
        target = (out.handle, out.offset // self._itemsize + self._offset)
        filling = [*place, *target, *self._limits(scalars), *self._geometry]
        advancing = [*place, self._words]
        try:
            fill.set_args(*filling)
            advance.set_args(*advancing)
        except cl.Error as error:
            raise failure(error) from error
        return filling, advancing

    def _run(self, stream: ClStream, fill: cl.Kernel, advance: cl.Kernel) -> None:
        # Every work-item of the fill reads the state, so that only a command of its own can come after all of them.
        try:
            filled = _enqueue(stream.queue, fill, self._global, self._group)
            stream.placed(filled, _WHAT)
            advanced = _enqueue(stream.queue, advance, _ONE, _ONE)
        except cl.Error as error:
            raise failure(error) from error
        stream.placed(advanced, _WHAT)
