"""One process under a storm of signals: handlers use EP wherever they interrupt it, and every byte is checked.

    PYTHONPATH=tools python -m ep_tools.attack.storm DEVICE MODE KIND SECONDS SEED

MODE is "sync", "async" or "habit"; KIND says what interrupts: "checkpoint" (a handler allocates, uploads, copies,
launches, downloads and synchronises), "collect" (finalizers do, in garbage that the program makes), "break" (a handler
raises KeyboardInterrupt). Prints counts as one line of JSON; a wrong byte is an AssertionError.
"""

from __future__ import annotations

import collections
import contextlib
import gc
import itertools
import json
import random
import signal
import sys
import time
from typing import Any

import ep_primitives as ops
import numpy as np

import ep

_SIZES = (1, 64, 100, 512, 1000, 4096, 5000, 70_000)
_ELEMENTS = 256
_MOST_LIVING = 60
_DEEPEST = 2  # handlers inside of handlers
_SOMETIMES = 0.3
_PAUSES = 2e-5, 2e-3  # seconds between two signals
_SUM = 3  # of the constants that handlers add


class Storm:
    """A program of random verbs, with a model of what every memory holds, and handlers that do the same beside it."""

    def __init__(self, name: str, mode: str, kind: str, seed: int) -> None:
        self.counts: collections.Counter[str] = collections.Counter()
        self.random = random.Random(seed)  # noqa: S311 - an order, not a secret
        self.chance = random.Random(-seed)  # noqa: S311 - of the handlers
        self.kind = kind
        self.mode = {"sync": True, "async": False, "habit": None}[mode]
        self.device = ep.device(name)
        self.stream = self.device.stream(synchronous=self.mode)
        self.other = self.device.stream(synchronous=self.mode)
        self.marks = itertools.count(1)
        self.living: dict[ep.Memory, bytes] = {}
        self.depth = 0
        self.is_breakable = False
        spec = ep.TensorSpec("float32", (_ELEMENTS,))
        self.add = ops.BroadcastBinary.infer("add", spec, spec).on(self.device)
        self.a, self.b = (np.full(_ELEMENTS, value, np.float32) for value in (1, 2))

    # What the program does.

    def mark(self, nbytes: int) -> bytes:
        """Return bytes that no other memory holds."""
        word = next(self.marks).to_bytes(8, "little")
        return (word * (nbytes // 8 + 1))[:nbytes]

    def make(self) -> None:
        """Allocate, and let the stream write."""
        nbytes = self.random.choice(_SIZES)
        memory = (self.stream if self.random.random() < _SOMETIMES else self.device).allocate(nbytes)
        content = self.mark(nbytes)
        self.stream.upload(memory, content)
        self.living[memory] = content

    def drop(self) -> None:
        """Free, close or forget a memory."""
        if self.living:
            memory, content = self.living.popitem()
            how = self.random.randrange(3)
            if how == 0:
                self.stream.free(memory)
            elif how == 1:
                memory.close()
            del memory, content

    def look(self) -> None:
        """Compare what a memory holds with the model."""
        if self.living:
            memory = self.random.choice([*self.living])
            content = self.living.get(memory)
            if content is None:
                return
            back = bytearray(len(content))
            self.stream.download(back, memory)
            self.stream.synchronize()
            assert bytes(back) == content, f"{memory} holds {bytes(back[:16])!r}, not {content[:16]!r}"
            self.counts["memories compared"] += 1

    def launch(self) -> None:
        """Add two vectors, by a launch or a bound step."""
        stream, device = self.stream, self.device
        a, b, out = (device.allocate(4 * _ELEMENTS) for _ in range(3))
        first, second = np.float32(self.random.randrange(1000)), np.float32(self.random.randrange(1000))
        x, y, back = np.full(_ELEMENTS, first), np.full(_ELEMENTS, second), np.empty(_ELEMENTS, np.float32)
        stream.upload(a, x)
        stream.upload(b, y)
        if self.random.random() < _SOMETIMES:
            self.add(stream, a=a, b=b, out=out)
        else:
            step = self.add.bind(a=a, b=b, out=out)
            for memory in (a, b, out):
                if memory is not out:
                    memory.close()
            step(stream)
            stream.download(back, out)
            stream.synchronize()
            step.close()
            assert (back == first + second).all(), f"step: {back[:4]} is not {first + second}"
            self.counts["steps compared"] += 1
            return
        stream.download(back, out)
        stream.synchronize()
        assert (back == first + second).all(), f"launch: {back[:4]} is not {first + second}"
        self.counts["launches compared"] += 1

    def order(self) -> None:
        """Let one stream wait for the other, and drop one."""
        self.other.wait(self.stream.record())
        self.stream.wait(self.other.record())
        if self.random.random() < _SOMETIMES:
            self.other = self.device.stream(synchronous=self.mode)

    def run(self, seconds: float) -> None:
        """Do random things for a while."""
        verbs = (self.make, self.make, self.make, self.drop, self.drop, self.look, self.launch, self.order)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                self.is_breakable = True
                self.random.choice(verbs)()
                self.counts["verbs"] += 1
                if len(self.living) > _MOST_LIVING:
                    self.drop()
                self.is_breakable = False
            except KeyboardInterrupt:
                self.is_breakable = False
                self.counts["interrupted"] += 1
                self.stream.synchronize()
                self.other.synchronize()
            if self.kind == "collect" and self.random.random() < _SOMETIMES:
                self.litter()

    # What interrupts it.

    def checkpoint(self, *_: object) -> None:
        """Use EP as a handler that saves a program's state does."""
        if self.depth >= _DEEPEST:
            return
        self.depth += 1
        try:
            device = self.device
            is_fresh = self.chance.random() < _SOMETIMES / 3
            stream = device.stream(synchronous=self.mode) if is_fresh else self.stream
            first, second = device.allocate(512), stream.allocate(512)
            content, back = self.mark(512), bytearray(512)
            stream.upload(first, content)
            stream.copy(second, first)
            stream.download(back, second)
            stream.synchronize()
            assert bytes(back) == content, f"handler: {bytes(back[:16])!r} is not {content[:16]!r}"
            self.counts["handlers compared"] += 1
            if self.chance.random() < _SOMETIMES:
                out, sums = device.allocate(4 * _ELEMENTS), np.empty(_ELEMENTS, np.float32)
                x, y = device.allocate(4 * _ELEMENTS), device.allocate(4 * _ELEMENTS)
                stream.upload(x, self.a)
                stream.upload(y, self.b)
                self.add(stream, a=x, b=y, out=out)
                stream.download(sums, out)
                stream.synchronize()
                assert (sums == _SUM).all(), f"handler: {sums[:4]} is not {_SUM}"
                self.counts["handlers' launches compared"] += 1
            if self.chance.random() < _SOMETIMES:
                stream.free(first)
                second.close()
        except ValueError as error:
            self.counts[f"refused: {str(error)[:60]}"] += 1
        finally:
            self.depth -= 1

    def litter(self) -> None:
        """Make garbage whose finalizer uses EP."""
        loop: list[Any] = [_Litter(self)]
        loop.append(loop)

    def interrupt(self, *_: object) -> None:
        """Raise KeyboardInterrupt, or use EP."""
        if self.is_breakable and not self.depth and self.chance.random() < _SOMETIMES:
            self.is_breakable = False
            raise KeyboardInterrupt
        self.checkpoint()


class _Litter:
    def __init__(self, storm: Storm) -> None:
        self.storm = storm

    def __del__(self) -> None:
        self.storm.counts["finalizers"] += 1
        self.storm.checkpoint()


def _blow(storm: Storm, seconds: float) -> None:
    handler = storm.interrupt if storm.kind == "break" else storm.checkpoint
    count = 0

    def on_signal(*_: object) -> None:
        nonlocal count
        count += 1
        signal.setitimer(signal.ITIMER_REAL, storm.chance.uniform(*_PAUSES))
        handler()

    if storm.kind == "collect":
        gc.set_threshold(30, 2, 2)
    else:
        signal.signal(signal.SIGALRM, on_signal)
        signal.setitimer(signal.ITIMER_REAL, 1e-3)
    try:
        storm.run(seconds)
    finally:
        with contextlib.suppress(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
    storm.counts["signals"] = count


def main() -> None:
    """Run one storm."""
    name, mode, kind, seconds, seed = sys.argv[1:]
    storm = Storm(name, mode, kind, int(seed))
    _blow(storm, float(seconds))
    for memory, content in [*storm.living.items()]:
        back = bytearray(len(content))
        storm.stream.download(back, memory)
        storm.stream.synchronize()
        assert bytes(back) == content, f"at the end {memory} holds {bytes(back[:16])!r}, not {content[:16]!r}"
    print(json.dumps(storm.counts))


if __name__ == "__main__":
    main()
