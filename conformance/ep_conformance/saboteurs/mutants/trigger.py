"""Whether a launch has a value of a dimension, by what its kernel sees: specs, addresses, the graph that it is in.

Dimensions that only a family can see, such as contents, go by the situation of the case that runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import ep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Seen", "has"]

_LINE: Final = 64
_MANY: Final = 30
_SIZES: Final = {
    "few": (0, 16),
    "hundreds": (17, 1 << 11),
    "thousands": (1 << 11, 1 << 14),
    "large": (1 << 16, 1 << 20),
}
_OF_SOME: Final = ("tail", "size", "rank", "inner")
"""Dimensions that a kernel sees of the output, and that some families mean of an input: there the case says so."""
_LONG: Final = 1024
_FEW: Final = 3


@dataclass(frozen=True)
class Seen:
    """What a kernel sees of a launch.

    addresses  : where the operands' memory views begin
    lies       : for each operand the allocation that its memory is a part of
    launches   : how many there were of this kernel
    situation  : of the case that runs, for what no kernel sees
    """

    descriptor: ep.Descriptor
    addresses: Mapping[str, int]
    lies: Mapping[str, int]
    launches: int
    is_graph: bool
    situation: Mapping[str, str]

    def spec(self, name: str) -> ep.TensorSpec | None:
        """Return an operand's spec, None if it is no tensor that is there."""
        spec = self.descriptor.present.get(name)
        return spec if isinstance(spec, ep.TensorSpec) else None


def has(seen: Seen, dimension: str, value: str) -> bool:
    """Say whether a launch has a value."""
    kind, _, name = dimension.partition("-")
    test = _TESTS.get(kind)
    found = None if test is None else test(seen, name, value)
    is_said = seen.situation.get(dimension) == value
    return is_said or bool(found) if kind in _OF_SOME or found is None else found


def _tail(seen: Seen, _name: str, value: str) -> bool:
    return seen.descriptor.out.size % 16 == int(value)


def _size(seen: Seen, _name: str, value: str) -> bool | None:
    if value not in _SIZES:
        return None
    low, high = _SIZES[value]
    return low <= seen.descriptor.out.size < high


def _rank(seen: Seen, _name: str, value: str) -> bool:
    return seen.descriptor.out.ndim == int(value) if value.isdigit() else False


def _inner(seen: Seen, _name: str, value: str) -> bool | None:
    shape = seen.descriptor.out.shape
    if not shape:
        return False
    if value in {"few", "long"}:
        return shape[-1] <= _FEW if value == "few" else shape[-1] > _LONG
    return shape[-1] % 4 == int(value[2:] or 0) if value.startswith("4k") else None


def _start(seen: Seen, name: str, value: str) -> bool | None:
    spec, address = seen.spec(name), seen.addresses.get(name)
    if spec is None or address is None:
        return None
    at = address % _LINE
    needed = max(int(value[:-1]), spec.itemsize) if value.endswith("B") else int(value) * spec.itemsize
    return at == needed % _LINE


def _offset(seen: Seen, name: str, value: str) -> bool | None:
    spec = seen.spec(name)
    return None if spec is None or not value.isdigit() else spec.lo == int(value)


def _memory(seen: Seen, _name: str, value: str) -> bool | None:
    return (len({*seen.lies.values()}) == 1) == (value == "one") if len(seen.lies) > 1 else None


def _way(seen: Seen, name: str, value: str) -> bool | None:
    if name:  # the way of something else, such as of rows
        return None
    if value in {"captured", "moved"}:
        return seen.is_graph and seen.situation.get("way", value) == value
    return seen.launches > _MANY if value == "often" else not seen.is_graph


_TESTS: Final[Mapping[str, Callable[[Seen, str, str], bool | None]]] = {
    "tail": _tail,
    "size": _size,
    "rank": _rank,
    "inner": _inner,
    "start": _start,
    "offset": _offset,
    "memory": _memory,
    "way": _way,
}
"""By the first word of a dimension's name: True, False, or None if it is not to be seen."""
