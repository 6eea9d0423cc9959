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
        ep_simt.require(descriptor, info)
        return True

    def compile(self, key: ep.KernelKey, device: ClDevice) -> Entries:  # type: ignore[override]  # a provider gets its own devices
        program, entries = ep_simt.entries_of(key)
        return Entries(*(Entry(device, program, entry.name, entry.parameters) for entry in entries))

    def create(self, descriptor: RandomFill, device: ep.spi.Device, code: Entries) -> ClRandomKernel:
        del device
        return ClRandomKernel(code, descriptor)


class ClRandomKernel(CommandKernel):
    """Both entries for one descriptor. Launches take turns with their kernel objects; a bound step owns two."""

    __slots__ = ("_calls", "_entries", "_global", "_group")

    def __init__(self, entries: Entries, descriptor: RandomFill) -> None:
        fill = entries.fill
        self._entries = entries
        self._calls = ep_simt.calls_of(fill.program, descriptor, fill.run)
        self._group = (fill.group,)
        self._global = (-(-self._calls[0].items // fill.group) * fill.group,)

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        fill, advance = (entry.take() for entry in self._entries)
        self._set(fill, advance, memories, scalars)
        self._run(stream, fill, advance)  # type: ignore[arg-type]  # streams of this device are ClStreams
        for entry, kernel in zip(self._entries, (fill, advance), strict=True):
            entry.give(kernel)

    def commands(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> tuple[Command, ...]:
        fill, advance = (entry.make() for entry in self._entries)
        filling, advancing = self._set(fill, advance, memories, scalars)
        state, out = (Place(i, 2 * i, *place) for i, place in enumerate(self._calls[0].places))
        return (
            Command(_WHAT, fill, self._global, self._group, filling, (state, out)),
            Command(_WHAT, advance, _ONE, _ONE, advancing, (state,)),
        )

    def _set(
        self, fill: cl.Kernel, advance: cl.Kernel, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]
    ) -> tuple[list[Any], list[Any]]:
        """Set the arguments of both kernels, and return them."""
        filling, advancing = (call.arguments(memories, scalars) for call in self._calls)
        try:
            fill.set_args(*filling)
            advance.set_args(*advancing)
        except cl.Error as error:
            raise failure(error) from error
        return filling, advancing

    def _run(self, stream: ClStream, fill: cl.Kernel, advance: cl.Kernel) -> None:
        try:
            filled = _enqueue(stream.queue, fill, self._global, self._group)
            stream.placed(filled, _WHAT)
            advanced = _enqueue(stream.queue, advance, _ONE, _ONE)
        except cl.Error as error:
            raise failure(error) from error
        stream.placed(advanced, _WHAT)
