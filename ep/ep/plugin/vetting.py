"""Checks a provider's devices, their DeviceInfo and its table of implementations before they are used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ep.ground.glimpse import glimpse
from ep.layout.device_info import DeviceInfo
from ep.layout.memory_kind import MemoryKind
from ep.spi.device import Device
from ep.work.descriptor import Descriptor
from ep.work.implementation import Implementation

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["check_devices", "check_info", "check_table"]

_TEXTS: Final = ("name", "vendor", "driver", "fingerprint")
_LEAST: Final = {"memory": 0, "compute_units": 1, "subgroup_size": 1, "alignment": 1}
_WORDS: Final = ("dtypes", "features", "flushes")
_REPEATS: Final = ("bitwise", "none")


def check_devices(found: Any, made: Mapping[int, Device]) -> Sequence[Device]:
    """Return the result of `devices()` if all are new or among the `made` ones. Raises TypeError or ValueError."""
    if not isinstance(found, list | tuple):
        message = f"devices() returned {glimpse(found)}, needs a list of ep.spi.Device"
        raise TypeError(message)
    for index, device in enumerate(found):
        _check_device(index, device)
        if made.get(index) is device:
            continue
        twin = next(place for place, other in enumerate(found) if other is device)
        if twin != index:
            message = f"devices() returned one object as devices {twin} and {index}; make one for each"
            raise ValueError(message)
        if device.index >= 0:
            message = f"devices() returned {device.name} once more; make new objects at each call"
            raise ValueError(message)
        check_info(device.info)
    return found


def _check_device(index: int, device: Any) -> None:
    kind = type(device)
    if Device not in kind.__mro__:
        message = (
            f"devices() returned {glimpse(device)} as device {index}, needs an instance of a subclass of ep.spi.Device"
        )
        raise TypeError(message)
    if not hasattr(device, "info"):
        message = f"device {index} was never made: write super().__init__(info) in {kind.__name__}.__init__"
        raise TypeError(message)


def check_info(info: Any) -> None:
    """Raise TypeError or ValueError unless it is a DeviceInfo with valid fields."""
    if not isinstance(info, DeviceInfo):
        message = f"info is {glimpse(info)}, needs an ep.DeviceInfo"
        raise TypeError(message)
    for field in _TEXTS:
        _check_field(info, field, "a str", is_right=type(getattr(info, field)) is str)
    for field in _WORDS:
        names = getattr(info, field)
        is_right = type(names) is frozenset and all(type(name) is str for name in names)
        _check_field(info, field, "a frozenset of str", is_right=is_right)
    for field, least in _LEAST.items():
        number = getattr(info, field)
        is_right = type(number) is int and least <= number < 1 << 63
        _check_field(info, field, f"an int from {least} on, below 2**63", is_right=is_right)
    kinds = info.memory_kinds
    is_right = (
        type(kinds) is frozenset and all(type(kind) is MemoryKind for kind in kinds) and MemoryKind.DEVICE in kinds
    )
    _check_field(info, "memory_kinds", "a frozenset of MemoryKind with DEVICE in it", is_right=is_right)
    _check_field(info, "alignment", "a power of two", is_right=not info.alignment & (info.alignment - 1))
    _check_field(info, "determinism", " or ".join(map(repr, _REPEATS)), is_right=info.determinism in _REPEATS)


def _check_field(info: DeviceInfo, field: str, needed: str, *, is_right: bool) -> None:
    if not is_right:
        message = f"DeviceInfo.{field} is {glimpse(getattr(info, field))}, needs {needed}"
        raise ValueError(message)


def check_table(table: Any) -> None:
    """Raise TypeError unless it is a table of implementations."""
    if not isinstance(table, Mapping):
        message = f"implementations is {glimpse(table)}, needs a mapping: descriptor type -> tuple of ep.Implementation"
        raise TypeError(message)
    for kind, rows in table.items():
        if not isinstance(kind, type) or not issubclass(kind, Descriptor):
            message = f"implementations has the key {glimpse(kind)}, needs subclasses of ep.Descriptor"
            raise TypeError(message)
        if not isinstance(rows, tuple | list) or not all(Implementation in type(row).__mro__ for row in rows):
            message = (
                f"implementations[{kind.__name__}] is {glimpse(rows)}, needs a tuple of instances of ep.Implementation"
            )
            raise TypeError(message)
