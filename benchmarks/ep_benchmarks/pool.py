"""A soak of a device's pool: random allocations on asynchronous streams, each written, read back and given back."""

from __future__ import annotations

import bisect
import contextlib
import gc
import random
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ep

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Findings", "soak"]

_MOST_LIVE: Final = 256  # blocks at one time, over all streams
_BATCH: Final = 256  # blocks compared at one time
_SPELL: Final = 500  # allocations until another number of blocks lives
_MOST_FAULTS: Final = 10
_WORD: Final = 8
_LENGTHS: Final = (3, 13)  # powers of two between which lengths lie, evenly by their exponent
_LARGE: Final = (18, 20)


class Findings(NamedTuple):
    """The findings of a soak.

    pairs          : allocations, each given back
    seconds        : that it took, with the checks
    faults         : the first ten faults
    compared       : blocks of which the first and last bytes were read back and compared
    placed         : blocks compared by address with all live ones, 0 where addresses are not known
    hits           : of the pool
    misses         : of the pool
    peak           : most bytes that were in use
    most_reserved  : most bytes that were reserved
    in_use         : bytes in use in the end
    reserved       : bytes reserved in the end, after trim()
    """

    pairs: int
    seconds: float
    faults: tuple[str, ...]
    compared: int
    placed: int
    hits: int
    misses: int
    peak: int
    most_reserved: int
    in_use: int
    reserved: int

    def lines(self) -> Iterator[str]:
        """Yield the table."""
        hit_rate = self.hits / max(1, self.hits + self.misses)
        yield f"{'pairs':<24}{self.pairs:>14,}   {self.seconds:.1f} s, {self.seconds / self.pairs * 1e6:.1f} us a pair"
        yield f"{'served by the pool':<24}{self.hits:>14,}   {hit_rate:.1%}"
        yield f"{'served by the provider':<24}{self.misses:>14,}"
        yield f"{'blocks compared':<24}{self.compared:>14,}   their first and last bytes, read back"
        yield f"{'addresses compared':<24}{self.placed:>14,}   with all blocks that live at the same time"
        yield f"{'peak in use':<24}{self.peak:>14,}   bytes"
        yield f"{'peak reserved':<24}{self.most_reserved:>14,}   bytes, {self.most_reserved / self.peak:.2f} of the peak in use"
        yield f"{'left in use':<24}{self.in_use:>14,}   bytes"
        yield f"{'left reserved':<24}{self.reserved:>14,}   bytes, after trim()"
        yield f"{'faults':<24}{len(self.faults):>14,}"
        yield from self.faults


class _Block(NamedTuple):
    memory: ep.Memory
    stream: ep.Stream
    tag: bytes
    start: int | None


class _Places:
    """The addresses of live blocks, where the provider tells them."""

    def __init__(self, device: ep.Device) -> None:
        self._device = device
        self._starts: list[int] = []
        self._ends: dict[int, int] = {}
        self.is_known = False
        with contextlib.suppress(ep.UnsupportedError):
            device.twin.dlpack_device()
            self.is_known = not device.twin.is_opaque

    def enter(self, memory: ep.Memory) -> tuple[int | None, str]:
        """Take note of a block; return its address and the block that it overlaps, "" if none."""
        if not self.is_known:
            return None, ""
        start = self._device.twin.address(memory.handle)
        index = bisect.bisect_left(self._starts, start)
        neighbours = self._starts[max(0, index - 1) : index + 1]
        clash = [other for other in neighbours if other < start + memory.nbytes and start < self._ends[other]]
        fault = f"{memory.nbytes} bytes at {start:#x} overlap the live block at {clash[0]:#x}" if clash else ""
        self._starts.insert(index, start)
        self._ends[start] = start + memory.nbytes
        return start, fault

    def leave(self, start: int | None) -> None:
        """Forget a block."""
        if start is not None:
            del self._starts[bisect.bisect_left(self._starts, start)]
            self._ends.pop(start, None)


class _Soak:
    """One run: blocks that live, and those that are under way to be compared."""

    def __init__(self, device: ep.Device, streams: int, seed: int) -> None:
        self.device = device
        self.dice = random.Random(seed)  # noqa: S311 - sizes, not secrets
        self.streams = [_asynchronous(device) for _ in range(streams)]
        self.live: list[_Block] = []
        self.places = _Places(device)
        self.faults: list[str] = []
        self.seen = memoryview(bytearray(2 * _WORD * _BATCH))
        self.expected: list[bytes] = []
        self.compared = self.placed = self.peak = self.most_reserved = 0

    def allocate(self, number: int) -> None:
        """Allocate a block of a random length, and let a stream write it."""
        dice = self.dice
        nbytes = int(2 ** dice.uniform(*(_LENGTHS if dice.random() < 0.998 else _LARGE)))  # noqa: PLR2004 - a share
        stream = dice.choice(self.streams)
        memory = stream.allocate(nbytes) if dice.random() < 0.5 else self.device.allocate(nbytes)  # noqa: PLR2004 - half
        tag = number.to_bytes(_WORD, "little")
        start, fault = self.places.enter(memory)
        if fault:
            self.fault(fault)
        self.placed += start is not None
        stream.fill(memory[: nbytes // _WORD * _WORD], tag)
        self.live.append(_Block(memory, stream, tag, start))
        pool = self.device._heap.pool  # noqa: SLF001 - its counters, without asking the driver each time
        self.peak = max(self.peak, pool.in_use)
        self.most_reserved = max(self.most_reserved, pool.reserved)

    def give_back(self) -> None:
        """Read the ends of a random block in a stream's order, and give it back in one of the three ways."""
        dice, live = self.dice, self.live
        place = dice.randrange(len(live))
        live[place], live[-1] = live[-1], live[place]
        memory, stream, tag, start = live.pop()
        if dice.random() < 0.125:  # noqa: PLR2004 - an eighth changes the stream
            event, stream = stream.record(), dice.choice(self.streams)
            stream.wait(event)
        at, end = 2 * _WORD * len(self.expected), memory.nbytes // _WORD * _WORD
        stream.download(self.seen[at : at + _WORD], memory[:_WORD])
        stream.download(self.seen[at + _WORD : at + 2 * _WORD], memory[end - _WORD : end])
        self.expected.append(tag)
        self.places.leave(start)
        way = dice.randrange(3)
        if way == 0:
            stream.free(memory)
        elif way == 1:
            memory.close()
        # else nothing refers to it any more: its finalizer gives it back
        del memory
        if len(self.expected) == _BATCH:
            self.compare()

    def compare(self) -> None:
        """Wait for the streams, and compare the bytes that they read."""
        for stream in self.streams:
            stream.synchronize()
        for place, tag in enumerate(self.expected):
            seen = bytes(self.seen[2 * _WORD * place : 2 * _WORD * (place + 1)])
            if seen != tag + tag:
                self.fault(f"block {int.from_bytes(tag, 'little')} holds {seen.hex()}, needed {tag.hex()} at both ends")
        self.compared += len(self.expected)
        self.expected.clear()

    def fault(self, what: str) -> None:
        """Take note of something that is wrong."""
        if len(self.faults) < _MOST_FAULTS:
            self.faults.append(what)


def soak(device: ep.Device, pairs: int, streams: int = 4, seed: int = 0) -> Findings:
    """Allocate and give back `pairs` blocks on asynchronous streams, checking contents, addresses and figures.

    Lengths are random from 8 bytes to 8 KiB, one in 500 from 256 KiB to 1 MiB; half of the blocks are allocated in a
    stream's order; a third each is freed in a stream's order, closed, and dropped.
    """
    gc.collect()  # so that no earlier cycle is collected during the count
    device.synchronize()
    device.trim()
    before: Any = device.memory_info()
    run = _Soak(device, streams, seed)
    most = _MOST_LIVE
    begin = time.perf_counter()
    for number in range(pairs):
        run.allocate(number)
        # The number of live blocks goes up and down, so that the pool keeps now too many, now too few.
        if number % _SPELL == 0:
            most = run.dice.randrange(1, _MOST_LIVE)
        while len(run.live) > most:
            run.give_back()
    while run.live:
        run.give_back()
    run.compare()
    for stream in run.streams:
        stream.close()
    device.synchronize()
    seconds = time.perf_counter() - begin
    after = device.memory_info()
    if after.hits + after.misses - before.hits - before.misses != pairs:
        run.fault(f"the pool counted {after.hits - before.hits} hits and {after.misses - before.misses} misses")
    if run.most_reserved > 2 * after.peak:
        run.fault(f"{run.most_reserved} bytes were reserved, more than twice the peak of {after.peak}")
    if after.in_use != before.in_use:
        run.fault(f"{after.in_use - before.in_use} bytes are still in use")
    device.trim()
    left = device.memory_info().reserved - before.reserved
    if left:
        run.fault(f"{left} bytes are still reserved after trim()")
    return Findings(
        pairs,
        seconds,
        tuple(run.faults),
        run.compared,
        run.placed,
        after.hits - before.hits,
        after.misses - before.misses,
        run.peak,
        run.most_reserved,
        after.in_use - before.in_use,
        left,
    )


def _asynchronous(device: ep.Device) -> ep.Stream:
    try:
        return device.stream(synchronous=False, timed=False)
    except ep.UnsupportedError:
        return device.stream(timed=False)
