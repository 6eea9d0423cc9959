"""Overlap: work of two asynchronous streams, and of a stream and the host, timed alone and together."""

from __future__ import annotations

import hashlib
import statistics
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from ep_primitives import ElementwiseUnary

import ep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Overlap", "overlap_rows", "streams_row"]

_SIZE: Final = 1 << 20
_COPIED: Final = 8 << 20
_TEXT: Final = bytes(1 << 20)
_ROUNDS: Final = 31
_SECONDS: Final = 0.02
_MOST_STREAMS: Final = 4


class Overlap(NamedTuple):
    """One pair of works: medians in milliseconds of each alone and of both at once."""

    name: str
    first: float
    second: float
    both: float

    @property
    def share(self) -> float:
        """How much of the shorter work is hidden by the longer: 1 all of it, 0 nothing; below 0 it cost time."""
        return (self.first + self.second - self.both) / min(self.first, self.second)


class _Work:
    """Something that is begun, often at once, and then waited for."""

    def __init__(self, begin: Callable[[], object], wait: Callable[[], object]) -> None:
        self.begin = begin
        self.wait = wait
        self.count = 1
        self.count = max(1, round(_SECONDS / min(self.alone() for _ in range(5))))

    def start(self) -> None:
        for _ in range(self.count):
            self.begin()

    def alone(self) -> float:
        """Return the seconds that it takes by itself."""
        return _seconds(self)


def overlap_rows(device: ep.Device) -> Iterator[Overlap]:
    """Yield the figures of pairs of works, each of about 20 ms. Raises UnsupportedError without asynchronous streams."""
    one, other = device.stream(synchronous=False), device.stream(synchronous=False)
    python, native = _Work(_python, lambda: None), _Work(_digest, lambda: None)
    yield _pair("kernels beside kernels", _kernel(device, one), _kernel(device, other))
    yield _pair("kernels beside copies to the host", _kernel(device, one), _copy(device, other))
    yield _pair("copies to the host beside copies", _copy(device, one), _copy(device, other))
    yield _pair("kernels beside native work of the host", _kernel(device, one), native)
    yield _pair("kernels beside the host's Python", _kernel(device, one), python)
    yield _pair("copies to the host beside its Python", _copy(device, one), python)
    one.close()
    other.close()


def streams_row(device: ep.Device) -> dict[int, float]:
    """Return the milliseconds that the same launches take on one, two and four streams."""
    streams = [device.stream(synchronous=False) for _ in range(_MOST_STREAMS)]
    works = [_kernel(device, stream) for stream in streams]
    total = works[0].count * _MOST_STREAMS
    found: dict[int, list[float]] = {1: [], 2: [], _MOST_STREAMS: []}
    for _ in range(_ROUNDS):
        for count, seconds in found.items():
            for work in works:
                work.count = total // count
            seconds.append(_seconds(*works[:count]))
    for stream in streams:
        stream.close()
    return {count: statistics.median(seconds) * 1e3 for count, seconds in found.items()}


def _pair(name: str, first: _Work, second: _Work) -> Overlap:
    turns = [(first.alone(), second.alone(), _seconds(first, second)) for _ in range(_ROUNDS)]
    return Overlap(name, *(statistics.median(each) * 1e3 for each in zip(*turns, strict=True)))


def _seconds(*works: _Work) -> float:
    begin = time.perf_counter()
    for work in works:
        work.start()
    for work in works:
        work.wait()
    return time.perf_counter() - begin


def _kernel(device: ep.Device, stream: ep.Stream) -> _Work:
    spec = ep.TensorSpec("float32", (_SIZE,))
    x, out = device.allocate(spec.nbytes), device.allocate(spec.nbytes)
    stream.fill(x, b"\0\0\0\x3f")
    step = ElementwiseUnary.infer("tanh", spec).on(device).bind(x=x, out=out)
    return _Work(lambda: step(stream), stream.synchronize)


def _copy(device: ep.Device, stream: ep.Stream) -> _Work:
    memory, host = device.allocate(_COPIED), bytearray(_COPIED)
    stream.fill(memory, b"\0")
    return _Work(lambda: stream.download(host, memory), stream.synchronize)


def _digest() -> bytes:
    """Do work without the interpreter's lock, as NumPy and files do."""
    return hashlib.sha256(_TEXT).digest()


def _python() -> int:
    """Do work with the interpreter's lock, which others get every 5 ms."""
    return sum(place * place for place in range(20_000))
