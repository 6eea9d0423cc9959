"""The two-level cache of a device: primitives by descriptor, compiled code by kernel key."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from ep.errors import UnsupportedError
from ep.implementation import Implementation, choose
from ep.primitive import Primitive

if TYPE_CHECKING:
    from ep.descriptor import Descriptor
    from ep.device import Device
    from ep.key import KernelKey

__all__ = ["CAPACITY", "LRU", "PrimitiveCache"]

CAPACITY: Final = 4096

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LRU(Generic[Key, Value]):
    """A bounded map that makes missing values, one maker a key at a time, and forgets what was not used for longest."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()
        # A turn lives as long as somebody makes the value or waits for it.
        self._making: weakref.WeakValueDictionary[Key, threading.Lock] = weakref.WeakValueDictionary()

    def __len__(self) -> int:
        return len(self._values)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()

    def get(self, key: Key, make: Callable[[Key], Value]) -> Value:
        """Return the value of a key, never None; `make(key)` gives a missing one. If it raises, nothing is kept."""
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
                return value
        return self._make(key, make)

    def _make(self, key: Key, make: Callable[[Key], Value]) -> Value:
        with self._lock:
            turn = self._making.setdefault(key, threading.Lock())
        with turn:
            with self._lock:
                value = self._values.get(key)
            if value is None:
                value = make(key)  # what it raises leaves the turn to the next, who tries again
            with self._lock:
                self._values[key] = value
                while len(self._values) > self._capacity:
                    self._values.popitem(last=False)
        return value


class PrimitiveCache:
    """What a device has made: `get` walks the provider's table once for each descriptor and compiles once for each key."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._primitives: LRU[Descriptor, Primitive] = LRU()
        self._code: LRU[tuple[Implementation, KernelKey], tuple[Any]] = LRU()
        self.compiles = 0

    def __len__(self) -> int:
        return len(self._primitives)

    def clear(self) -> None:
        """Forget all primitives and all compiled code."""
        self._primitives.clear()
        self._code.clear()

    def get(self, descriptor: Descriptor) -> Primitive:
        """Return the primitive of a descriptor. See Descriptor.on."""
        return self._primitives.get(descriptor, self._create)

    def _create(self, asked: Descriptor) -> Primitive:
        device = self._device
        device._require_open(f"{asked.family}.on")
        table = device.provider.implementations
        reasons: list[str] = []
        descriptor: Descriptor | None = asked
        while descriptor is not None:
            implementation = choose(table.get(type(descriptor), ()), descriptor, device.info, reasons)
            if implementation is not None:
                return self._compile(asked, descriptor, implementation)
            if type(descriptor) not in table:
                reasons.append(f"{device.provider.name} has no implementation of {descriptor.family}")
            descriptor = descriptor.lower()
        message = f"{asked.cell}: unsupported on {device.name}"
        raise UnsupportedError(message, reasons)

    def _compile(self, asked: Descriptor, descriptor: Descriptor, implementation: Implementation) -> Primitive:
        device = self._device
        (code,) = self._code.get((implementation, descriptor.key), self._compile_key)
        return Primitive(device, asked, descriptor, implementation, implementation.create(descriptor, device, code))

    def _compile_key(self, of: tuple[Implementation, KernelKey]) -> tuple[Any]:
        implementation, key = of
        self.compiles += 1
        return (implementation.compile(key, self._device),)
