"""Memories: sizes, views, alignment, closing."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import ep
from ep_conformance.judge.error import CaseError
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Trial


@case()
def zero_bytes_are_legal(trial: Trial) -> None:
    """Zero bytes can be allocated, viewed, uploaded, filled, copied, downloaded and closed."""
    stream, memory, other = trial.stream(), trial.memory(0), trial.memory(0)
    trial.equal("memory.nbytes", memory.nbytes, 0)
    stream.upload(memory, b"")
    stream.fill(memory[0:0], b"\1\2\3\4")
    stream.copy(memory, other)
    stream.download(bytearray(), memory)
    stream.synchronize()
    memory.close()


@case()
def sizes_are_checked(trial: Trial) -> None:
    """A negative size is ValueError, one that is no integer TypeError; both name the operation."""
    trial.refuses("allocate(-1)", ValueError, lambda: trial.device.allocate(-1), "allocate", "-1")
    size: object = 1.5
    trial.refuses("allocate(1.5)", TypeError, lambda: trial.device.allocate(size), "allocate")  # type: ignore[arg-type]


@case()
def kinds_are_there_or_refused(trial: Trial) -> None:
    """Every kind that memory_kinds names can be allocated, DEVICE is one; others are UnsupportedError naming those, or TypeError."""
    kinds = trial.device.info.memory_kinds
    trial.require(ep.MemoryKind.DEVICE in kinds, f"memory_kinds is {kinds}, needs DEVICE among them")
    for kind in ep.MemoryKind:
        if kind in kinds:
            memory = _declared(trial, kind)
            trial.equal("memory.kind", memory.kind, kind)
            if kind is not ep.MemoryKind.DEVICE:
                trial.equal(f"len(host()) of {kind.name} memory", len(memory.host()), 100)
            memory.close()
        else:
            names = [each.name for each in kinds]
            trial.refuses(
                f"allocate of {kind.name}",
                ep.UnsupportedError,
                partial(trial.device.allocate, 100, kind),
                kind.name,
                *names,
            )
    wrong: object = "device"
    trial.refuses("allocate(1, 'device')", TypeError, lambda: trial.device.allocate(1, wrong), "allocate")  # type: ignore[arg-type]


def _declared(trial: Trial, kind: ep.MemoryKind) -> ep.Memory:
    try:
        return trial.device.allocate(100, kind)
    except ep.UnsupportedError as error:
        message = f"memory_kinds names {kind.name}, and allocate(100, {kind.name}) raised UnsupportedError: {error}"
        raise CaseError(message) from error


@case()
def fresh_memory_is_aligned(trial: Trial) -> None:
    """A fresh allocation of any size begins at a multiple of info.alignment, as far as the host can see it."""
    alignment = trial.device.info.alignment
    for nbytes in (1, 3, 64, 100, 4096, 70_001):
        memory = trial.memory(nbytes)
        trial.equal(f"allocate({nbytes}).offset % {alignment}", memory.offset % alignment, 0)
        try:
            host = memory.host()
        except ep.UnsupportedError:
            continue
        address = ctypes.addressof(ctypes.c_char.from_buffer(host))
        trial.equal(f"address of allocate({nbytes}) % {alignment}", address % alignment, 0)


@case()
def views_share_bytes(trial: Trial) -> None:
    """A slice is a view: bytes that are written through it are read through its memory."""
    stream, before, piece = trial.stream(), trial.noise(1000), trial.noise(123)
    memory = trial.holding(stream, before)
    stream.upload(memory[77:200], piece)
    before[77:200] = piece
    trial.same_bytes("memory", trial.content(stream, memory), before)
    trial.same_bytes("memory[77:200]", trial.content(stream, memory[77:200]), piece)


@case()
def views_of_views_add_up(trial: Trial) -> None:
    """A view of a view counts from the view's start."""
    stream, content = trial.stream(), trial.noise(4096)
    memory = trial.holding(stream, content)
    view = memory[1000:3000][500:1500][7:11]
    trial.equal("view.nbytes", view.nbytes, 4)
    trial.same_bytes("memory[1000:3000][500:1500][7:11]", trial.content(stream, view), content[1507:1511])


@case()
def views_outside_are_refused(trial: Trial) -> None:
    """A slice that leaves the memory is ValueError, one with a step TypeError."""
    memory = trial.memory(100)
    for start, stop in ((0, 101), (-1, 10), (60, 50), (101, 101)):
        trial.refuses(f"memory[{start}:{stop}]", ValueError, lambda a=start, b=stop: memory[a:b], "memory")  # type: ignore[misc]
    trial.refuses("memory[0:10:2]", TypeError, lambda: memory[0:10:2], "memory")


@case()
def odd_places_hold_odd_lengths(trial: Trial) -> None:
    """Every length from 1 to 33 bytes can be moved at every offset from 0 to 16, its neighbours untouched."""
    stream, content = trial.stream(), trial.noise(17 * 33 * 64)
    memory = trial.holding(stream, content)
    place = 0
    for offset in range(17):
        for length in range(1, 34):
            piece = trial.noise(length)
            at = place + offset
            stream.upload(memory[at : at + length], piece)
            content[at : at + length] = piece
            place += 64
    trial.same_bytes("memory", trial.content(stream, memory), content)


@case()
def allocations_are_disjoint(trial: Trial) -> None:
    """No two living allocations share a byte."""
    stream = trial.stream()
    sizes = (1, 2, 7, 64, 100, 511, 512, 513, 4096, 65_537)
    memories = [trial.memory(size) for size in sizes * 8]
    for place, memory in enumerate(memories):
        stream.fill(memory, bytes([place]))
    for place, memory in enumerate(memories):
        needed = np.full(memory.nbytes, place, np.uint8)
        trial.same_bytes(f"allocation {place} of {memory.nbytes} bytes", trial.content(stream, memory), needed)


@case()
def thousands_of_allocations_are_disjoint(trial: Trial) -> None:
    """No two of 4,096 living allocations share a byte, as a table of them that is full might let them."""
    stream, nbytes = trial.stream(), 16
    memories = [trial.memory(nbytes) for _ in range(4096)]
    for place, memory in enumerate(memories):
        stream.fill(memory, place.to_bytes(4, "little"))
    found = np.zeros((len(memories), nbytes), np.uint8)
    for row, memory in zip(found, memories, strict=True):
        stream.download(row, memory)
    stream.synchronize()
    needed = np.repeat(np.arange(len(memories), dtype="<u4")[:, None], nbytes // 4, 1)
    trial.same_bytes(f"allocations of {nbytes} bytes each", found.reshape(-1), needed.view(np.uint8).reshape(-1))


@case()
def closing_one_leaves_the_others(trial: Trial) -> None:
    """Closing, freeing and allocating memories never changes a byte of the open ones."""
    stream = trial.stream()
    sizes = (1, 7, 64, 100, 511, 513, 4096, 65_537)
    memories = [trial.memory(size) for size in sizes * 6]
    contents = [trial.noise(memory.nbytes) for memory in memories]
    for memory, content in zip(memories, contents, strict=True):
        stream.upload(memory, content)
    for memory in memories[::2]:
        memory.close()
    trial.device.synchronize()
    for size in sizes * 2:
        stream.fill(trial.memory(size), b"\xbd")
    for place in range(1, len(memories), 2):
        trial.same_bytes(f"allocation {place}", trial.content(stream, memories[place]), contents[place])


@case()
def large_memories_hold_their_ends(trial: Trial) -> None:
    """96 MiB, or half of a smaller device, can be allocated; its first, middle and last bytes are different places."""
    stream, size = trial.stream(), trial.fitting(96 << 20, copies=1)
    memory = trial.memory(size)
    pieces = {at: trial.noise(4096) for at in (0, size // 2 - 2048, size - 4096)}
    for at, piece in pieces.items():
        stream.upload(memory[at : at + 4096], piece)
    for at, piece in pieces.items():
        trial.same_bytes(f"memory[{at}:+4096]", trial.content(stream, memory[at : at + 4096]), piece)


@case()
def closed_memory_refuses_every_verb(trial: Trial) -> None:
    """After close() every use is ClosedError, and a second close() is nothing."""
    stream, memory, other = trial.stream(), trial.memory(64), trial.memory(64)
    memory.close()
    memory.close()
    trial.require(memory.is_closed, "memory.is_closed")
    host = bytearray(64)
    trial.refuses("upload", ep.ClosedError, lambda: stream.upload(memory, host), "upload")
    trial.refuses("download", ep.ClosedError, lambda: stream.download(host, memory), "download")
    trial.refuses("fill", ep.ClosedError, lambda: stream.fill(memory, b"\0"), "fill")
    trial.refuses("copy to it", ep.ClosedError, lambda: stream.copy(memory, other), "copy")
    trial.refuses("copy from it", ep.ClosedError, lambda: stream.copy(other, memory), "copy")
    trial.refuses("memory[0:8]", ep.ClosedError, lambda: memory[0:8])


@case()
def closing_a_base_closes_its_views(trial: Trial) -> None:
    """Views of a closed memory are ClosedError, whenever they were made."""
    stream, memory = trial.stream(), trial.memory(64)
    view = memory[8:16][2:4]
    memory.close()
    trial.require(view.is_closed, "view.is_closed")
    trial.refuses("upload to a view of closed memory", ep.ClosedError, lambda: stream.upload(view, b"ab"))


@case()
def closing_a_view_ends_the_view_alone(trial: Trial) -> None:
    """After close() of a view its base and other views work on."""
    stream, content = trial.stream(), trial.noise(64)
    memory = trial.holding(stream, content)
    view, other = memory[8:16], memory[8:16]
    view.close()
    trial.refuses("upload to a closed view", ep.ClosedError, lambda: stream.upload(view, bytes(8)))
    trial.same_bytes("memory", trial.content(stream, memory), content)
    trial.same_bytes("another view", trial.content(stream, other), content[8:16])
