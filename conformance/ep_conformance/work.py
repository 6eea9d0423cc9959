"""Work that takes a device a while, and kernels that any provider may have: what the runtime cases are made of."""

from __future__ import annotations

import functools
import gc
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from ep.capabilities import how, serves_calls

import ep
from ep_conformance.catalogue import cells
from ep_conformance.compare import compare
from ep_conformance.trial import Bytes, CaseError, Trial

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Gate", "Kernel", "busy", "copy_each_way", "find_kernel", "gate", "has_cell", "late", "settled"]

_BUSY_BYTES: Final = 4 << 20
_BUSY_COPIES: Final = 12
_BUSY_MEMORIES: Final = 32
"""A case keeps up to eight streams busy, with two memories each, and has others beside them."""
_GATE_SECONDS: Final = 10.0

Array = npt.NDArray[Any]


def busy(trial: Trial, stream: ep.Stream, copies: int = _BUSY_COPIES) -> None:
    """Enqueue fills and copies back and forth that keep the stream busy for milliseconds.

    copies : of 4 MiB; where the device is small more of less, so that as many bytes move
    """
    nbytes = trial.fitting(_BUSY_BYTES, _BUSY_MEMORIES)
    one, other = trial.scratch(stream, nbytes)
    for _ in range(copies // 2 * (_BUSY_BYTES // nbytes)):
        stream.fill(one, b"busy")
        stream.copy(other, one)
        one, other = other, one


def late(trial: Trial, stream: ep.Stream, old: Bytes, new: Bytes, copies: int = _BUSY_COPIES) -> ep.Memory:
    """Return memory that holds `old` now and `new` when the stream gets there, after a while."""
    target, source = trial.holding(stream, old), trial.holding(stream, new)
    busy(trial, stream, copies)
    stream.copy(target, source)
    return target


class Gate:
    """What `gate` put into a stream.

    holds : False where the stream's calls are the host's: then nothing is held back, and order is all that can be tried
    """

    def __init__(self, *, holds: bool) -> None:
        self.holds = holds
        self.has_expired = False
        self._opened = threading.Event()

    def wait(self) -> None:
        """Hold the stream back until somebody opens the gate, or for ten seconds."""
        self.has_expired = not self._opened.wait(_GATE_SECONDS)

    def open(self) -> None:
        """Let the stream go on."""
        self._opened.set()

    def open_later(self, seconds: float = 0.05) -> None:
        """Let the stream go on in a while, when the host is in the middle of something else."""
        threading.Timer(seconds, self.open).start()

    def close(self) -> None:
        """Open it, at the end of the trial."""
        self.open()


def gate(trial: Trial, stream: ep.Stream) -> Gate:
    """Let the stream call a function that returns when the case opens the gate, or when the trial ends.

    What the case enqueues behind it is certainly not done before, which makes order a matter of yes or no.
    """
    made = Gate(holds=serves_calls(stream))
    if made.holds:
        trial.first(made)
        stream.call(made.wait)
        trial.require(not made.has_expired, "call() returns before its function does, on an asynchronous stream")
    return made


def settled(trial: Trial) -> ep.MemoryInfo:
    """Return the figures of the device's memory once nothing that was closed or dropped is waited for."""
    gc.collect()
    trial.device.synchronize()
    return trial.device.memory_info()


def copy_each_way(trial: Trial, other: ep.Device) -> None:
    """Fail the case unless a stream copies from another device and to it, through the host just where its device says so."""
    device, stream, theirs = trial.device, trial.stream(), trial.closing(other.stream())
    for is_from, reaches in ((True, device.can_copy_from(other)), (False, device.can_copy_to(other))):
        content, degraded = trial.noise(10_000), device.degraded["copy-between-devices"]
        here, there = trial.memory(content.nbytes), trial.closing(other.allocate(content.nbytes))
        source, target, reader = (there, here, stream) if is_from else (here, there, theirs)
        (theirs if is_from else stream).upload(source, content)
        device.synchronize()
        other.synchronize()
        stream.copy(target, source)
        stream.synchronize()
        way = f"{'from' if is_from else 'to'} {other.name}"
        trial.same_bytes(f"memory copied {way}", trial.content(reader, target), content)
        through_host = device.degraded["copy-between-devices"] > degraded
        said = f"device.can_copy_{'from' if is_from else 'to'}({other.name}) is {reaches}"
        trial.require(through_host != reaches, f"{said}, and a copy {way} passed through the host: {through_host}")


@dataclass(frozen=True)
class Kernel:
    """An op with one dense tensor input, over float32 vectors, that the device accepts."""

    family: ep.Family
    op: str
    operand: str

    def descriptor(self, size: int) -> ep.Descriptor:
        """Return the op over `size` elements."""
        spec = ep.TensorSpec("float32", (size,))
        kind: Any = self.family.descriptor
        if self.op == "-":
            return kind(**{self.operand: spec, "out": spec})  # type: ignore[no-any-return]
        return kind.infer(self.op, spec)  # type: ignore[no-any-return]

    def check(self, what: str, size: int, x: Array, out: Bytes) -> None:
        """Fail the case unless `out` is what the op makes of x."""
        descriptor = self.descriptor(size)
        result = out.view(np.float32)
        reference = self.family.reference(descriptor, {self.operand: x})
        comparison = compare(result, reference, self.family.accuracy(descriptor), "float32")
        if not comparison.passes:
            at = comparison.worst[0]
            message = f"{what}: {self}(x[{at}]={x[at]}) gave {result[at]}, needed {reference.value[at]}"
            raise CaseError(message)

    @property
    def changes(self) -> bool:
        """True if no element of the output equals its input, so that work that was not done shows."""
        x = np.linspace(0.6, 1.9, 14, dtype=np.float32)
        reference = self.family.reference(self.descriptor(x.size), {self.operand: x})
        return bool((reference.value != x).all())

    def data(self, trial: Trial, size: int) -> Array:
        """Return inputs for which no op of the suite is undefined."""
        return trial.rng.uniform(0.5, 2.0, size).astype(np.float32)

    def __str__(self) -> str:
        return self.family.name if self.op == "-" else self.op


@functools.lru_cache(maxsize=8)
def find_kernel(device: ep.Device) -> Kernel | None:
    """Return a kernel with one float32 tensor that the device accepts, None if it has none; best one that changes x."""
    found = [*_kernels(device)]
    return next((kernel for kernel in found if kernel.changes), found[0] if found else None)


def has_cell(device: ep.Device, cell: str) -> bool:
    """Say whether the device serves a cell, given as its text."""
    place = ep.Cell(*cell.split("/"))
    family = ep.families()[place.family]
    return how(device, family, place) != "none"


def _kernels(device: ep.Device) -> Iterator[Kernel]:
    for family, cell in cells():
        if cell.layout != "dense" or cell.dtypes != "float32":
            continue
        sample = family.sample(cell)
        if (
            sample.operands != ("x", "out")
            or sample.attributes
            or any(spec.shape != sample.out.shape for spec in sample.specs)
        ):
            continue  # the output has not the shape of x
        if how(device, family, cell) == "native":
            yield Kernel(family, cell.op, "x")
