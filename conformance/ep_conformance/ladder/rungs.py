"""The rungs of the bring-up ladder: the cases on each rung, and the functions of a provider that each is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from ep_conformance.runtime import RuntimeCase

__all__ = [
    "ABILITIES",
    "BREADTH",
    "CLAIMS",
    "KERNEL",
    "LOADING",
    "OWN_ABILITIES",
    "RUNGS",
    "TOGETHER",
    "Ability",
    "Rung",
    "area_order",
    "functions_of",
    "rung_of",
]


@dataclass(frozen=True)
class Rung:
    """One step of bringing a provider up.

    title     : the claim that holds when it is reached
    mandatory : False if only claimed cases can fail on it
    """

    number: int
    title: str
    mandatory: bool = True


RUNGS: Final = (
    Rung(0, "it is found, loads and has devices"),
    Rung(1, "memory and copies"),
    Rung(2, "fills, streams, synchronisation, errors"),
    Rung(3, "events and waiting, lifetimes, threads, graphs"),
    Rung(4, "a first kernel", mandatory=False),
    Rung(5, "every claim holds", mandatory=False),
    Rung(6, "abilities of its own in place of EP's defaults", mandatory=False),
    Rung(7, "determinism, depth, forks, the end of the process, interchange"),
    Rung(8, "breadth and speed", mandatory=False),
)
LOADING, _MEMORY, _STREAMS, _EVENTS, KERNEL, CLAIMS, OWN_ABILITIES, TOGETHER, BREADTH = RUNGS


class _Area(NamedTuple):
    """A module of ep_conformance.runtime: its rung, and the functions that it is about, the likeliest culprit first."""

    rung: Rung
    functions: tuple[str, ...]


_POINTS: Final = ("Stream.record", "Event.is_done", "Stream.synchronize")
_AREAS: Final = {
    "device": _Area(_EVENTS, ("Stream.synchronize", "Device.close")),
    "memory": _Area(_MEMORY, ("Stream.copy", "Device.allocate", "Device.free")),
    "transfer": _Area(_MEMORY, ("Stream.copy",)),
    "copy": _Area(_MEMORY, ("Stream.copy",)),
    "fill": _Area(_STREAMS, ("Stream.fill", "Stream.copy")),
    "stream": _Area(_STREAMS, ("Stream.synchronize", "Device.stream", "Stream.is_idle")),
    "error": _Area(_STREAMS, ("Device.allocate", "Stream.copy")),
    "event": _Area(_EVENTS, _POINTS),
    "wait": _Area(_EVENTS, ("Stream.wait", "Stream.can_wait", *_POINTS)),
    "lifetime": _Area(_EVENTS, (*_POINTS, "Device.free")),
    "pool": _Area(_EVENTS, ("Device.allocate", "Device.free", "Stream.record")),
    "shortage": _Area(_EVENTS, ("Device.allocate", "Device.free")),
    "injection": _Area(_EVENTS, ("Device.allocate", "Device.free", "Stream.copy")),
    "thread": _Area(_EVENTS, ("Stream.copy", "Device.allocate", "Stream.record")),
    "call": _Area(_EVENTS, ("Stream.call", "Stream.synchronize")),
    "capture": _Area(_EVENTS, ("Device.instantiate", "Stream.wait")),
    "graph": _Area(_EVENTS, ("Device.instantiate", "Stream.copy")),
    "slot": _Area(_EVENTS, ("Device.instantiate",)),
    "program": _Area(_EVENTS, ("Stream.wait", *_POINTS, "Stream.copy")),
    "launch": _Area(KERNEL, ("Kernel.launch", "Kernel.bind")),
    "primitive": _Area(KERNEL, ("Kernel.launch", "Kernel.bind", "Implementation.create")),
    "frozen": _Area(KERNEL, ("Kernel.bind", "Device.instantiate")),
    "random": _Area(CLAIMS, ("Kernel.launch",)),
    "validation": _Area(CLAIMS, ("Kernel.launch",)),
    "ability": _Area(OWN_ABILITIES, ()),
    "late": _Area(TOGETHER, ("Device.inject", "Stream.synchronize", "Event.is_done", "Device.free")),
    "process": _Area(TOGETHER, ("Stream.abandon", "Stream.synchronize", "Provider.devices")),
    "reentry": _Area(TOGETHER, ("Stream.copy", "Device.allocate", "Kernel.launch")),
    "scratch": _Area(TOGETHER, ("Kernel.launch", "Kernel.bind")),
    "interchange": _Area(TOGETHER, ("Device.wrap_host", "Device.wrap_memory")),
    "depth": _Area(TOGETHER, ("Kernel.launch", "Kernel.bind", "Stream.copy", "Stream.wait", *_POINTS)),
    "export": _Area(TOGETHER, ("Device.dlpack_device", "Device.address", "Stream.dlpack_stream")),
}
_CASES: Final = {
    "runtime/device/equal-names-are-one-object": _Area(LOADING, ("Provider.devices",)),
    "runtime/device/unknown-index-is-unavailable": _Area(LOADING, ("Provider.devices",)),
    "runtime/device/info-is-complete": _Area(LOADING, ("Provider.devices",)),
    "runtime/device/copies-from-and-accesses-itself": _Area(
        _MEMORY, ("Device.can_copy_from", "Device.can_copy_to", "Device.can_access")
    ),
    "runtime/late/lost-device-is-opened-again": _Area(OWN_ABILITIES, ("Device.close", "Provider.devices")),
    "runtime/error/unsupported-names-every-reason": _Area(KERNEL, ("Implementation.accepts",)),
    "runtime/memory/allocations-are-disjoint": _Area(_MEMORY, ("Device.allocate", "Stream.copy")),
    "runtime/memory/kinds-are-there-or-refused": _Area(_MEMORY, ("Device.allocate", "Device.host")),
    "runtime/memory/fresh-memory-is-aligned": _Area(_MEMORY, ("Device.allocate",)),
    "runtime/transfer/upload-is-over-when-its-event-is-done": _Area(_EVENTS, _POINTS),
    "runtime/transfer/download-is-complete-when-its-event-is-done": _Area(_EVENTS, _POINTS),
    "runtime/transfer/large-buffers-may-be-overwritten-at-once": _Area(_EVENTS, _POINTS),
    "runtime/transfer/large-downloads-are-complete": _Area(_EVENTS, _POINTS),
    "runtime/copy/sources-may-be-overwritten-at-once": _Area(_EVENTS, ("Stream.copy", "Stream.wait", *_POINTS)),
}
"""Cases that stand on another rung than their area, or are about other functions."""


class Ability(NamedTuple):
    """An optional ability, by its name in `runtime/ability/NAME`: the function to write for it, and its benefit."""

    name: str
    function: str
    worth: str


ABILITIES: Final = (
    Ability("async", "Device.stream", "copies and kernels run while the host goes on, and beside each other"),
    Ability("event", "Stream.record", "a record no longer lets the host wait for the whole stream"),
    Ability("wait", "Stream.wait", "the device waits for other streams, not the host that enqueues"),
    Ability("timeout", "Stream.is_idle", "waits end at their timeout and at Ctrl-C, without a thread for each"),
    Ability("timing", "Event.seconds_since", "profiles and benchmarks show the device's time, not the host's"),
    Ability("fill", "Stream.fill", "a fill no longer moves its bytes from the host"),
    Ability("call", "Stream.call", "host functions run in a stream, and the host that enqueues them does not wait"),
    Ability("graph", "Device.instantiate", "a captured graph costs one submission, not one a node"),
    Ability("memory-info", "Device.memory_info", "users and out-of-memory errors see how many bytes are free"),
    Ability("pinned-memory", "Device.host", "transfers go straight to the device, past any staging buffer"),
    Ability("native-calls", "Device.native_calls", "reports show that the driver was called: passes become native"),
    Ability("copy-between-devices", "Device.can_copy_from", "copies between devices do not pass through the host"),
    Ability(
        "late-errors",
        "Device.inject",
        "late errors are tested: each is raised and named, and no loss of a device is missed",
    ),
    Ability("export", "Device.dlpack_device", "other libraries read and write this memory, by DLPack"),
    Ability("wrap-memory", "Device.wrap_memory", "memory of other libraries is used where it lies"),
    Ability("wrap-stream", "Device.wrap_stream", "work is enqueued into the queues of other libraries"),
    Ability("shared-memory", "Device.host", "host and device share memory, and nothing is copied"),
    Ability("host-memory", "Device.host", "the host reads device memory where it lies"),
    Ability("wrap-host", "Device.wrap_host", "kernels take NumPy arrays where they lie"),
    Ability("priority", "Device.stream", "urgent streams go first"),
)
"""The optional abilities, the most worthwhile first."""


def rung_of(case: RuntimeCase) -> Rung:
    """Return the one rung on which a case stands: kernels' cases stand with the first kernel, not before it.

    Raises KeyError for a case of an area that the ladder does not know.
    """
    if case.id.startswith("vendor/") or case.needs:
        return CLAIMS
    rung = _area(case.id).rung
    return KERNEL if case.kernels and rung.number < KERNEL.number else rung


def functions_of(identity: str) -> tuple[str, ...]:
    """Return the functions that a runtime case is about, the likeliest culprit first; none for unknown cases."""
    parts = identity.split("/")
    if parts[:2] == ["runtime", "ability"]:
        return tuple(ability.function for ability in ABILITIES if ability.name == parts[-1])
    return _area(identity).functions if parts[0] == "runtime" and parts[1] in _AREAS else ()


def area_order(identity: str) -> int:
    """Return the place of a case's area on its rung: areas that others build on come first."""
    area = identity.split("/")[1]
    return list(_AREAS).index(area) if area in _AREAS else len(_AREAS)


def _area(identity: str) -> _Area:
    return _CASES.get(identity) or _AREAS[identity.split("/")[1]]
