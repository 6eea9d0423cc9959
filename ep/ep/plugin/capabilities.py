"""What a device can do, asked without compiling: every cell of every family, and the runtime abilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep import spi
from ep.errors import UnsupportedError
from ep.layout.memory_kind import MemoryKind
from ep.plugin.claims import read_claims
from ep.plugin.families import families
from ep.work.implementation import choose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep.layout.cells import Cell
    from ep.plugin.claims import Claims
    from ep.plugin.family import Family
    from ep.stream.device import Device
    from ep.stream.stream import Stream
    from ep.work.descriptor import Descriptor

__all__ = ["ABILITIES", "Capability", "ability", "capabilities", "how", "served", "served_by", "serves_calls"]


class Capability(NamedTuple):
    """One row of the matrix; `how` is native, lowered, degraded or none."""

    family: str
    op: str
    dtypes: str
    layout: str
    claimed: bool
    how: str


_STREAM_TWINS: Final = {"fill": "fill", "event": "record", "wait": "wait", "timeout": "is_idle"}
_DEVICE_TWINS: Final = {
    "memory-info": "memory_info",
    "wrap-host": "wrap_host",
    "wrap-memory": "wrap_memory",
    "wrap-stream": "wrap_stream",
    "export": "dlpack_device",
    "copy-between-devices": "can_copy_from",
    "graph": "instantiate",
}
_WITHOUT_DEFAULT: Final = frozenset({"memory-info", "wrap-host", "wrap-memory", "wrap-stream", "export"})

_KINDS: Final = {
    "host-memory": MemoryKind.DEVICE,
    "pinned-memory": MemoryKind.PINNED,
    "shared-memory": MemoryKind.SHARED,
}
_OTHERS: Final[dict[str, tuple[type[Any], str, str]]] = {
    "async": (spi.Device, "stream", "none"),
    "call": (spi.Stream, "call", "degraded"),
    "priority": (spi.Device, "stream", "none"),
    "timing": (spi.Stream, "record", "degraded"),
    "native-calls": (spi.Device, "native_calls", "none"),
    "late-errors": (spi.Device, "inject", "none"),
}

ABILITIES: Final = tuple(sorted([*_STREAM_TWINS, *_DEVICE_TWINS, *_KINDS, *_OTHERS]))
"""The optional runtime abilities, as they stand in `runtime/ability/NAME` claims."""


def capabilities(device: Device) -> Iterator[Capability]:
    """Yield every cell and runtime ability with how this device serves it."""
    claims = read_claims(device.provider.manifest.claims)
    for family in families().values():
        for cell in family.cells():
            yield _row(device, family, cell, claims)
    yield from _abilities(device, claims)


def how(device: Device, family: Family, cell: Cell) -> str:
    """Return how a device serves a cell: "native", "lowered" or "none". Compiles nothing."""
    return served(device, family.sample(cell), [])


def served(device: Device, descriptor: Descriptor, reasons: list[str]) -> str:
    """Return how a device serves a descriptor: "native", "lowered" or "none", and then append why. Compiles nothing."""
    table = device.provider.implementations
    if choose(table.get(type(descriptor), ()), descriptor, device.info, reasons) is not None:
        return "native"
    stages = descriptor.lower()
    is_lowered = bool(stages) and all(served(device, stage.descriptor, reasons) != "none" for stage in stages)
    return "lowered" if is_lowered else "none"


def _row(device: Device, family: Family, cell: Cell, claims: Claims) -> Capability:
    claimed = claims.covers(str(cell), family.since(cell), device.info.features)
    return Capability(cell.family, cell.op, cell.dtypes, cell.layout, claimed, how(device, family, cell))


def _abilities(device: Device, claims: Claims) -> Iterator[Capability]:
    for name in ABILITIES:
        claimed = claims.covers(f"runtime/ability/{name}", "1.0", device.info.features)
        yield Capability("runtime", "ability", "-", name, claimed, ability(device, name))


def served_by(name: str) -> tuple[type[Any], str, str]:
    """Return the method that serves an ability of ABILITIES, and how EP serves the ability without that method.

    The class, the name of its method, and "degraded" or "none".
    """
    if name in _STREAM_TWINS:
        return spi.Stream, _STREAM_TWINS[name], "degraded"
    if name in _DEVICE_TWINS:
        return spi.Device, _DEVICE_TWINS[name], "none" if name in _WITHOUT_DEFAULT else "degraded"
    return (spi.Device, "host", "none") if name in _KINDS else _OTHERS[name]


def serves_calls(stream: Stream) -> bool:
    """Say whether functions given to this stream's `call` wait in it, so that the enqueuing host does not."""
    kind = type(stream.twin)
    return not stream.is_synchronous and (kind is spi.Worker or kind.call is not spi.Stream.call)


def ability(device: Device, name: str) -> str:
    """Return how a device serves an ability of ABILITIES: "native", "degraded" or "none"."""
    stream = device.stream()
    try:
        return _ability(device, stream, name)
    finally:
        stream.close()


def _ability(device: Device, stream: Stream, name: str) -> str:
    if name in {"async", "call"}:
        return _asynchronous(device, name)
    if name == "priority":
        return "native" if "priority" in device.info.features else "none"
    if name == "native-calls":
        return "none" if device.native_calls is None else "native"
    if name in _KINDS:
        return "native" if _shows_host(device, _KINDS[name]) else "none"
    if name == "timing":
        return "none" if not stream.is_timed else _twin(type(stream.twin), spi.Stream, "record", "degraded")
    if name == "timeout" and stream.is_synchronous:
        return "native"
    default, method, otherwise = served_by(name)
    twin = stream.twin if default is spi.Stream else device.twin
    return _twin(type(twin), default, method, otherwise)


def _shows_host(device: Device, kind: MemoryKind) -> bool:
    memory = None
    try:
        memory = device.allocate(1, kind)
        return len(memory.host()) == 1
    except UnsupportedError:
        return False
    finally:
        if memory is not None:
            memory.close()


def _asynchronous(device: Device, name: str) -> str:
    try:
        stream = device.stream(synchronous=False)
    except UnsupportedError:
        return "none"
    served = name == "async" or serves_calls(stream)
    stream.close()
    return "native" if served else "degraded"


def _twin(kind: type[Any], default: type[Any], twin: str, otherwise: str) -> str:
    return otherwise if getattr(kind, twin) is getattr(default, twin) else "native"
