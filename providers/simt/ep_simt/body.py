"""Bodies: a body has a family's kernels: the keys that they take, their programs, and their launches."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import ep
from ep_simt import families
from ep_simt.elements import unknown

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from ep.work.key import KernelKey

    from ep_simt.plan import Plan
    from ep_simt.program import Program
    from ep_simt.target import Target

__all__ = ["BitwiseBody", "Body", "bodies", "body_of", "descriptors", "has_kernels", "require"]


class Body(ABC):
    """The kernels of one kind of descriptor. Immutable; all methods are pure."""

    descriptor: type[ep.Descriptor]

    def reason(self, key: KernelKey) -> str:
        """Return why no kernel exists for a key, "" if one does. Default: only the dialect may lack one of its element types."""
        return unknown(key.dtypes)

    def refusal(self, descriptor: Any) -> str:
        """Return why a descriptor is better lowered, "" if it is not. Default: none is."""
        del descriptor
        return ""

    def needs(self, key: KernelKey) -> tuple[str, ...]:
        """Return the element types that a device must have."""
        return tuple(dtype for dtype in key.dtypes if dtype)

    def rounds(self, key: KernelKey) -> bool:
        """Return True if the device has to round quotients and roots of float32 correctly."""
        del key
        return False

    def rounds_in_double(self, key: KernelKey) -> bool:
        """Return True if it computes what it `rounds` in double where the target does not round. Default: it always does."""
        del key
        return True

    def special(self, descriptor: Any) -> Hashable:
        """Return what the program depends on beyond the key: it becomes `key.special`."""
        del descriptor
        return None

    @abstractmethod
    def program(self, key: KernelKey, target: Target) -> Program:
        """Return the program of a key; several keys may share one."""

    @abstractmethod
    def entries(self, key: KernelKey) -> tuple[str, ...]:
        """Return the names of the entries that plans of a key may launch."""

    @abstractmethod
    def plan(self, descriptor: Any, target: Target) -> Plan:
        """Return the launches of a descriptor; never called if an output has no elements."""


class BitwiseBody(Body):
    """A body that takes elements as words of their length, and so asks a device for no element type."""

    def needs(self, key: KernelKey) -> tuple[str, ...]:
        del key
        return ()


@functools.cache
def bodies() -> Mapping[str, Body]:
    """Return the bodies by their family, as the folders in `families` have them: the BODY of each one's `body`."""
    found = [module.name for module in pkgutil.iter_modules(families.__path__, f"{families.__name__}.") if module.ispkg]
    every: list[Body] = [importlib.import_module(f"{name}.body").BODY for name in found]
    return {body.descriptor.family: body for body in every}


def body_of(family: str) -> Body | None:
    """Return the body of a family, None if it has none."""
    return bodies().get(family)


def descriptors() -> tuple[type[ep.Descriptor], ...]:
    """Return the kinds of descriptor that have a body."""
    return tuple(body.descriptor for body in bodies().values())


def has_kernels(descriptor: ep.Descriptor, info: ep.DeviceInfo, rounded: str = "") -> bool:
    """Return True if `require` lets a descriptor pass, or all the stages that it lowers to."""
    try:
        require(descriptor, info, rounded)
    except ep.UnsupportedError:
        stages = descriptor.lower()
        return bool(stages) and all(has_kernels(stage.descriptor, info, rounded) for stage in stages)
    return True


def require(descriptor: ep.Descriptor, info: ep.DeviceInfo, rounded: str = "") -> None:
    """Raise UnsupportedError, saying why, unless a body exists for the descriptor, and the device has what it needs.

    rounded : the feature of devices that round quotients and roots of float32 correctly, "" where all of them do
    """
    reason, needs = _asked(descriptor.key)
    body = body_of(descriptor.family)
    if reason := reason or (body.refusal(descriptor) if body else ""):
        raise ep.UnsupportedError(reason)
    for dtype in needs:
        if dtype not in info.dtypes:
            message = f"{info.name} has no {dtype}"
            raise ep.UnsupportedError(message)
    if not rounded or rounded in info.features:
        return
    assert body is not None
    has_way = body.rounds_in_double(descriptor.key) and "float64" in info.dtypes
    if body.rounds(descriptor.key) and not has_way:
        message = f"{info.name} does not round quotients and roots of float32 correctly, which {descriptor.title} needs"
        raise ep.UnsupportedError(message)


@functools.lru_cache(maxsize=4096)
def _asked(key: KernelKey) -> tuple[str, tuple[str, ...]]:
    body = body_of(key.family)
    if body is None:
        return f"the portable bodies have no family {key.family}", ()
    reason = body.reason(key)
    return reason, () if reason else body.needs(key)
