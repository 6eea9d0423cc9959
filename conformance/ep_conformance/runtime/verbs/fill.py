"""Fills: each pattern length, at odd places, with a tail, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ep_conformance.fixture.gate import gate
from ep_conformance.fixture.order import Order
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Trial


def _try(trial: Trial, length: int) -> None:
    """Fill views of many sizes whose offset is a multiple of the pattern's length and of nothing more."""
    pattern = trial.noise(length)
    for stream in trial.streams():
        content = trial.noise(120_000)
        memory = trial.holding(stream, content)
        at = length
        for count in (1, 2, 3, 7, 15, 16, 17, 31, 33, 255, 1021):
            nbytes = count * length
            stream.fill(memory[at : at + nbytes], pattern.tobytes())
            content[at : at + nbytes] = np.tile(pattern, count)
            at += nbytes + 3 * length
        trial.same_bytes(f"memory after fills with {length} bytes", trial.content(stream, memory), content)


@case()
def pattern_of_1_byte(trial: Trial) -> None:
    """A pattern of 1 byte fills any range."""
    _try(trial, 1)


@case()
def pattern_of_2_bytes(trial: Trial) -> None:
    """A pattern of 2 bytes fills any range of whole patterns."""
    _try(trial, 2)


@case()
def pattern_of_4_bytes(trial: Trial) -> None:
    """A pattern of 4 bytes fills any range of whole patterns."""
    _try(trial, 4)


@case()
def pattern_of_8_bytes(trial: Trial) -> None:
    """A pattern of 8 bytes fills any range of whole patterns."""
    _try(trial, 8)


@case()
def pattern_of_16_bytes(trial: Trial) -> None:
    """A pattern of 16 bytes fills any range of whole patterns."""
    _try(trial, 16)


@case()
def large_ranges_are_filled_to_the_end(trial: Trial) -> None:
    """A range of 8 MiB, less on a small device, and 8 bytes is filled completely."""
    for stream in trial.streams():
        memory = trial.memory(trial.fitting(8 << 20, copies=4) // 8 * 8 + 8)
        stream.fill(memory, b"abcdefgh")
        needed = np.tile(np.frombuffer(b"abcdefgh", np.uint8), memory.nbytes // 8)
        trial.same_bytes("memory", trial.content(stream, memory), needed)


@case()
def wrong_patterns_are_refused(trial: Trial) -> None:
    """Lengths other than 1, 2, 4, 8, 16 and ranges that are not whole patterns are ValueError; nothing is enqueued."""
    stream, content = trial.stream(), trial.noise(96)
    memory = trial.holding(stream, content)
    for length in (0, 3, 5, 32):
        trial.refuses(f"fill with {length} bytes", ValueError, lambda n=length: stream.fill(memory, bytes(n)), "fill")  # type: ignore[misc]
    trial.refuses("fill of 10 bytes by 4", ValueError, lambda: stream.fill(memory[0:10], bytes(4)), "fill")
    trial.refuses("fill at offset 2 by 4", ValueError, lambda: stream.fill(memory[2:10], bytes(4)), "fill")
    trial.same_bytes("memory", trial.content(stream, memory), content)


@case()
def is_ordered_with_its_stream(trial: Trial) -> None:
    """Of two fills of one range the later wins, also after slow work."""
    for stream in trial.streams():
        memory = trial.memory(100_000)
        held = gate(trial, stream)
        stream.fill(memory, b"\1")
        stream.fill(memory[50_000:], b"\2")
        held.open()
        needed = np.repeat(np.array([1, 2], np.uint8), 50_000)
        order = Order(("first fill", stream), ("second fill", stream), otherwise=1)
        trial.same_bytes("memory", trial.content(stream, memory), needed, order)


@case()
def the_pattern_is_taken_at_once(trial: Trial) -> None:
    """The caller may change the pattern's buffer as soon as fill returns."""
    for stream in trial.streams():
        memory, pattern = trial.memory(4096), bytearray(b"wxyz")
        held = gate(trial, stream)
        stream.fill(memory, pattern)  # type: ignore[arg-type]  # any buffer serves
        pattern[:] = b"0000"
        held.open()
        needed = np.tile(np.frombuffer(b"wxyz", np.uint8), 1024)
        order = Order(("fill's look at its pattern", stream), ("the return of fill()", None), otherwise=0x30)
        trial.same_bytes("memory", trial.content(stream, memory), needed, order)
