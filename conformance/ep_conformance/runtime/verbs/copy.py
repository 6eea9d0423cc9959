"""Copies inside a device."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

import numpy as np

from ep_conformance.fixture.gate import gate
from ep_conformance.fixture.long import periodic
from ep_conformance.fixture.order import Order
from ep_conformance.fixture.work import copy_each_way
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Trial

_PAGES: Final = 64 << 10


@case()
def moves_every_byte(trial: Trial) -> None:
    """A copy moves all of its bytes between odd places, and leaves the neighbours of both sides alone."""
    for stream in trial.streams():
        source, target = trial.noise(40_000), trial.noise(40_000)
        src, dst = trial.holding(stream, source), trial.holding(stream, target)
        for at, to, length in ((0, 0, 1), (1, 3, 17), (5, 64, 4096), (9000, 20_001, 13_333), (39_999, 39_999, 1)):
            stream.copy(dst[to : to + length], src[at : at + length])
            target[to : to + length] = source[at : at + length]
        trial.same_bytes("target", trial.content(stream, dst), target)
        trial.same_bytes("source", trial.content(stream, src), source)


@case()
def large_ranges_are_moved_to_the_end(trial: Trial) -> None:
    """A range of 20 MiB, less on a small device, and 5 bytes is copied completely, and no byte beyond it."""
    for stream in trial.streams():
        content = trial.noise(trial.fitting(20 << 20, copies=8) + 5)
        source, target = trial.holding(stream, content), trial.memory(content.nbytes + 3)
        stream.fill(target[content.nbytes :], b"\x77")
        stream.copy(target[: content.nbytes], source)
        needed = np.concatenate([content, np.full(3, 0x77, np.uint8)])
        trial.same_bytes("target", trial.content(stream, target), needed)


@case(since="1.1")
def tails_between_odd_offsets(trial: Trial) -> None:
    """Ranges of 64 KiB and 1 to 65 bytes more, from odd offsets to other odd ones, are copied to their last byte and no further."""
    for stream in (trial.asynchronous(), trial.stream()):
        content, before = trial.noise(_PAGES + 256), trial.noise(_PAGES + 256)
        source, target = trial.holding(stream, content), trial.holding(stream, before)
        for more in range(1, 66):
            at, to = (int(place) for place in 2 * trial.rng.choice(32, 2, replace=False) + 1)
            nbytes, needed = _PAGES + more, before.copy()
            stream.upload(target, before)
            stream.copy(target[to : to + nbytes], source[at : at + nbytes])
            needed[to : to + nbytes] = content[at : at + nbytes]
            what = f"target of {nbytes} bytes from offset {at} to offset {to}"
            trial.same_bytes(what, trial.content(stream, target), needed)


@case(since="1.1")
def sources_may_be_overwritten_at_once(trial: Trial) -> None:
    """The source of a large copy is overwritten by the next verb, and by a stream that waits: all of it was copied before."""
    nbytes = trial.fitting(32 << 20, copies=8)
    content = periodic(trial, nbytes)
    first, second = trial.asynchronous(), trial.asynchronous()
    source, target = trial.memory(nbytes), trial.memory(nbytes)
    for other in (first, second):
        first.upload(source, content)
        first.fill(target, b"\0")
        first.copy(target, source)
        if other is second:
            second.wait(first.record())
        other.fill(source[nbytes // 2 :], b"\xaa")
        other.fill(source[: nbytes // 2], b"\xaa")
        other.synchronize()
        order = Order(("copy", first), ("fill", other), otherwise=0xAA)
        trial.same_bytes("target", trial.content(first, target), content, order)


@case()
def moves_within_one_allocation(trial: Trial) -> None:
    """Disjoint ranges of one allocation, adjoining ones too, can be copied."""
    for stream in trial.streams():
        content = trial.noise(3000)
        memory = trial.holding(stream, content)
        stream.copy(memory[1000:2000], memory[0:1000])
        content[1000:2000] = content[0:1000]
        stream.copy(memory[1:8], memory[2993:3000])
        content[1:8] = content[2993:3000]
        trial.same_bytes("memory", trial.content(stream, memory), content)


@case()
def wrong_ranges_are_refused(trial: Trial) -> None:
    """Overlapping ranges and unlike lengths are ValueError before anything is enqueued."""
    stream, content = trial.stream(), trial.noise(100)
    memory, other = trial.holding(stream, content), trial.memory(50)
    trial.refuses("copy onto itself", ValueError, lambda: stream.copy(memory, memory), "copy", "overlap")
    trial.refuses("copy one further", ValueError, lambda: stream.copy(memory[1:51], memory[0:50]), "copy", "overlap")
    trial.refuses("copy of unlike lengths", ValueError, lambda: stream.copy(other, memory), "copy", "50", "100")
    trial.same_bytes("memory", trial.content(stream, memory), content)


@case()
def is_ordered_with_its_stream(trial: Trial) -> None:
    """A chain of copies through ten memories carries each value on in order."""
    for stream in trial.streams():
        old, content = trial.noise(100_000), trial.noise(100_000)
        chain = [trial.holding(stream, old) for _ in range(10)]
        held = gate(trial, stream)
        stream.upload(chain[0], content)
        for before, after in itertools.pairwise(chain):
            stream.copy(after, before)
            stream.fill(before, b"\xaa")
        held.open()
        orders = (
            Order(("upload", stream), ("copy", stream), otherwise=old),
            Order(("copy", stream), ("fill", stream), otherwise=0xAA),
        )
        trial.same_bytes("the last of ten", trial.content(stream, chain[-1]), content, *orders)


@case(since="1.1")
def each_direction_between_devices_is_asked_for(trial: Trial) -> None:
    """Copies from another device of the provider and to it arrive, and pass through the host only where the device says so."""
    for other in trial.device.provider.devices():
        if other is not trial.device:
            copy_each_way(trial, other)
