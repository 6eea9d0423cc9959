"""The two-level cache of a device: primitives by descriptor, compiled code by kernel key."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from ep.errors import UnsupportedError
from ep.work.implementation import Implementation, choose, code_key, created
from ep.work.lowering import Lowering
from ep.work.primitive import primitive_of
from ep.work.stage import check_stages

if TYPE_CHECKING:
    from ep.stream.device import Device
    from ep.work.descriptor import Descriptor
    from ep.work.implementation import Kernel
    from ep.work.key import KernelKey
    from ep.work.primitive import Primitive
    from ep.work.stage import Stage

__all__ = ["CAPACITY", "LRU", "PrimitiveCache"]

CAPACITY: Final = 4096
_USED: Final = operator.attrgetter("used")

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class _Entry(Generic[Key, Value]):
    """A key's value, and when it was asked for last."""

    __slots__ = ("key", "used", "value")

    def __init__(self, key: Key, value: Value, used: int) -> None:
        self.key = key
        self.value = value
        self.used = used


class _Turn:
    """The lock that makers of one key take one after the other; `users` counts who holds it or waits for it."""

    __slots__ = ("lock", "users")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.users = 0


class LRU(Generic[Key, Value]):
    """A bounded map that makes missing values, one maker a key at a time, and evicts the least recently used ones.

    A handler that interrupts the maker of a key and asks for that key makes a value of its own.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._most_evicted = max(1, capacity // 8)  # at once, so that looking for the least used costs little
        self._entries: dict[Key, _Entry[Key, Value]] = {}
        self._clock = 0
        self._making: dict[Key, _Turn] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()

    def get(self, key: Key, make: Callable[[Key], Value]) -> Value:
        """Return the value of a key, never None; `make(key)` gives a missing one. If it raises, nothing is kept."""
        entry = self._entries.get(key)
        if entry is None:
            return self._make(key, make)
        self._clock = entry.used = self._clock + 1
        return entry.value

    def _make(self, key: Key, make: Callable[[Key], Value]) -> Value:
        turn = self._making.setdefault(key, _Turn())
        turn.users += 1
        try:
            with turn.lock:
                entry = self._entries.get(key)
                if entry is None:
                    # What it raises leaves the turn to the next, who tries again.
                    entry = self._entries[key] = _Entry(key, make(key), self._clock)
                self._clock = entry.used = self._clock + 1
        finally:
            turn.users -= 1
            if not turn.users:
                self._making.pop(key, None)
        if len(self._entries) > self._capacity:
            self._evict()
        return entry.value

    def _evict(self) -> None:
        excess = max(len(self._entries) - self._capacity, self._most_evicted)
        for entry in sorted([*self._entries.values()], key=_USED)[:excess]:
            self._entries.pop(entry.key, None)


class PrimitiveCache:
    """The primitives and compiled code of a device.

    `get` walks the provider's table once for each descriptor and compiles once for each key.
    """

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
        reasons: list[str] = []
        made = self._make(asked, reasons)
        if made is None:
            message = f"{asked.cell}: unsupported on {device.name}"
            raise UnsupportedError(message, reasons)
        return primitive_of(device, asked, *made)

    def _make(self, descriptor: Descriptor, reasons: list[str]) -> tuple[Descriptor, Implementation, Kernel] | None:
        """Return the descriptor that runs, its implementation and its kernel; else None, with the reasons appended."""
        served = self._served(descriptor, reasons)
        if served is not None:
            return descriptor, *served
        stages = descriptor.lower()
        check_stages(descriptor, stages)
        if len(stages) == 1 and stages[0].is_all_of(descriptor):  # which runs as if it had been asked for
            return self._make(stages[0].descriptor, reasons)
        return self._composed(descriptor, stages, reasons) if stages else None

    def _served(self, descriptor: Descriptor, reasons: list[str]) -> tuple[Implementation, Kernel] | None:
        """Return the implementation of a table that accepts, and its kernel; else None, with the reasons appended."""
        device = self._device
        table = device.provider.implementations
        implementation = choose(table.get(type(descriptor), ()), descriptor, device.info, reasons)
        if implementation is not None:
            (code,) = self._code.get((implementation, code_key(implementation, descriptor)), self._compile_key)
            return implementation, created(implementation, descriptor, device.twin, code)
        if type(descriptor) not in table:
            reasons.append(f"{device.provider.name} has no implementation of {descriptor.family}")
        return None

    def _composed(
        self, whole: Descriptor, stages: Sequence[Stage], reasons: list[str]
    ) -> tuple[Descriptor, Implementation, Kernel] | None:
        primitives = []
        for stage in stages:
            try:
                primitives.append(self.get(stage.descriptor))
            except UnsupportedError as error:
                reasons += [f"it lowers to {stage.descriptor.cell}, which is unsupported, too", *error.reasons]
                return None
        lowering = Lowering(stages, primitives)
        return whole, lowering, lowering.create(whole, self._device.twin, None)

    def _compile_key(self, of: tuple[Implementation, KernelKey]) -> tuple[Any]:
        implementation, key = of
        self.compiles += 1
        return (implementation.compile(key, self._device.twin),)
