"""Generated programs: random, legal work against a sequential model, byte for byte, shrunk where it fails.

A case draws programs from the seed (`--seed`): 20 in profile quick, 100 in standard, 1000 in large, 5000 in exhaustive. A
program has two to four streams, and is legal by construction: what would race is ordered by a stream, an event or the host
(vector clocks say what is), and nothing else is. Stalls, which are host functions that wait, hold streams back, so that
what should have waited and did not is early for certain. What a program may do, and what each byte must be, is in
`ep_conformance/programs`. A failure prints the shortest program found that fails, as code, and the first wrong byte; the
same seed draws the same programs: `ep-conformance run --filter CASE --seed N` tries them again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import ep
from ep_conformance.programs.program import Mix
from ep_conformance.programs.search import try_programs
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Trial

_MOVES: Final = ("upload", "copy", "copy", "fill", "download")
_ORDER: Final = ("record", "wait", "stall", "synchronize")


@case()
def streams_and_events(trial: Trial) -> None:
    """Programs of transfers on two to four streams, ordered by events and waits of the host, end as the model says."""
    verbs = (*_MOVES, *_ORDER, "stall", "upload_host", "download", "scribble", "renew")
    try_programs(trial, Mix(verbs))


@case()
def views_and_copies(trial: Trial) -> None:
    """Programs of copies, fills and uploads of views of views, at any byte, end as the model says."""
    try_programs(
        trial, Mix((*_MOVES, "copy", "copy", "fill", "record", "wait", "stall"), nbytes=192, memories=4, views=True)
    )


@case(kernels=True)
def kernels(trial: Trial) -> None:
    """Programs of kernels and bound steps between copies and fills end as the model says."""
    verbs = (
        "launch",
        "launch",
        "bind",
        "again",
        "again",
        "copy",
        "fill",
        "upload",
        "download",
        "stall",
        "wait",
        "close",
    )
    try_programs(trial, Mix(verbs, unit=4, memories=4))


@case()
def allocations(trial: Trial) -> None:
    """Programs that allocate, free and close memory with work under way, in a stream's order and the host's, end as the model says."""
    verbs = (
        "allocate",
        "allocate",
        "free",
        "free",
        "close",
        "close",
        "copy",
        "copy",
        "fill",
        "download",
        "wait",
        "stall",
    )
    try_programs(trial, Mix((*verbs, "stall", "synchronize"), memories=4))


@case()
def graphs(trial: Trial) -> None:
    """Programs that capture work of several streams and launch it, other memories in its slots, end as the model says."""
    inside = ("copy", "copy", "fill", "launch", "launch", "wait")
    verbs = (*inside, "graph", "graph", "graph", "replay", "replay", "replay", "upload", "stall", "close")
    try_programs(trial, Mix(verbs, unit=4, memories=5, length=32))


@case()
def callbacks(trial: Trial) -> None:
    """Programs of host callbacks between transfers of host buffers end, and look to callbacks, as the model says."""
    verbs = ("call", "call", "call", "upload_host", "upload_host", "download", "download", "copy", "wait", "stall")
    try_programs(trial, Mix((*verbs, "scribble", "synchronize")))


@case()
def devices(trial: Trial) -> None:
    """Programs over all devices of the provider, with copies and waits between them, end as the model says.

    Where the provider has one device, it works beside the CPU's, if that is another provider's.
    """
    devices = [*trial.device.provider.devices()]
    devices.sort(key=lambda device: device is not trial.device)
    if len(devices) == 1 and devices[0].provider.name != "cpu":
        devices.append(ep.device("cpu:0"))
    verbs = ("copy", "copy", "copy", "upload", "fill", "download", "wait", "stall", "synchronize")
    try_programs(trial, Mix(verbs, memories=4), devices[:3])
