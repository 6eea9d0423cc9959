"""Portable: the implementation that every provider of such kernels registers, for every family that has a body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import ep
from ep_simt.body import bodies, descriptors, require
from ep_simt.kernel import PortableKernel

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from ep.work.key import KernelKey

    from ep_simt.kernel import Function
    from ep_simt.program import Entry, Program
    from ep_simt.target import Target

__all__ = ["Portable", "implementations"]


class Compiler(Protocol):
    """A device's side of portable kernels.

    target  : how it likes its work to be cut
    info    : whether it has float64, among others
    """

    target: Target
    info: ep.DeviceInfo

    def function(self, program: Program, entry: Entry) -> Function:
        """Return an entry that can be launched; a program is compiled once. Raises CompileError."""


class Portable(ep.Implementation):
    """The bodies of ep_simt, by a device that has a compiler and a launch for them: see `Compiler`."""

    def __init__(self, rounded: str = "") -> None:
        """Take the feature of devices that round quotients and roots of float32 correctly, "" where all of them do."""
        self._rounded = rounded

    def accepts(self, descriptor: ep.Descriptor, info: ep.DeviceInfo) -> bool:
        require(descriptor, info, self._rounded)
        return True

    def specialise(self, descriptor: ep.Descriptor) -> Hashable:
        return bodies()[descriptor.family].special(descriptor)

    def compile(self, key: KernelKey, device: Compiler) -> Mapping[str, Function]:  # type: ignore[override]  # devices that are compilers, too
        return _Functions(device, bodies()[key.family].program(key, self._target(device)))

    def create(self, descriptor: ep.Descriptor, device: Any, code: Mapping[str, Function]) -> ep.Kernel:
        plan = bodies()[descriptor.family].plan(descriptor, self._target(device))
        return PortableKernel(descriptor.title, plan, code)

    def _target(self, device: Compiler) -> Target:
        """Return a device's target with what its features and element types say of it."""
        target, info = device.target, device.info
        rounded, doubles = not self._rounded or self._rounded in info.features, "float64" in info.dtypes
        if (target.rounded, target.doubles) == (rounded, doubles):
            return target
        return target._replace(rounded=rounded, doubles=doubles)


class _Functions(dict[str, "Function"]):
    """Entries of a program, each compiled when a plan first launches it: no key needs all that it may launch."""

    def __init__(self, device: Compiler, program: Program) -> None:
        super().__init__()
        self._device, self._program = device, program

    def __missing__(self, name: str) -> Function:
        entry = self._program.entry(name)
        function = self[name] = self._device.function(self._program.of(entry), entry)
        return function


def implementations(portable: Portable) -> dict[type[ep.Descriptor], tuple[ep.Implementation, ...]]:
    """Return a provider's table with one implementation for all that has a body."""
    return dict.fromkeys(descriptors(), (portable,))
