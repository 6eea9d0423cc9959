"""The limits of the host's processors: the loops of loops.c with as many threads as the device has compute units."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ep_benchmarks.limits.native import UNITS, Traffic, compiled
from ep_benchmarks.limits.work import Limit, Work
from ep_benchmarks.timing import least

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ep_primitives.judging.reference import Array

__all__ = ["HostLimits"]

_SIZES: Final = (1 << 18, 1 << 23, 3 << 26)
"""Bytes that the memory's own figures move, read and written together: in a core's cache, in the shared one, and far beyond."""
_MOVEMENTS: Final = {"copy": (3, 3), "add": (4, 2), "read": (6, 0), "fill": (0, 6)}
"""Sixths of the bytes that are read and written."""
_WAYS: Final = (0, 1, 2)
"""Of `struct traffic`."""
_SLACK: Final = 4096


class HostLimits:
    """What the host can do: bytes by copies, sums, reads and fills, products by the widest instructions that it has.

    sizes : bytes for the figures of the report; rows are held against movements of their own bytes

    Raises OSError where nothing compiles the loops.
    """

    def __init__(self, threads: int, sizes: Sequence[int] = _SIZES) -> None:
        library = compiled()
        if library is None:
            message = "no C compiler, or one that cannot compile the loops"
            raise OSError(message)
        self._library = library
        self._threads = int(library.limits_open(threads))
        self._vector = int(library.limits_vector())
        self._arrays = [np.empty(0, np.uint8)] * 3
        self._flops = {name: float(library.limits_flops(number)) for number, name in enumerate(UNITS)}
        self._products = {name: self._rate(name) for name in UNITS if self._flops[name]}
        self._memory = {
            kind: {nbytes: self._speed(Work(reads * nbytes // 6, writes * nbytes // 6, 0, "")) for nbytes in sizes}
            for kind, (reads, writes) in _MOVEMENTS.items()
        }

    def figures(self) -> dict[str, Any]:
        memory = {
            kind: {str(nbytes): round(speed / 1e9, 2) for nbytes, speed in each.items()}
            for kind, each in self._memory.items()
        }
        products = {name: round(rate / 1e9, 1) for name, rate in self._products.items()}
        return {"source": "loops in C", "threads": self._threads, "memory": memory, "products": products}

    def ceilings(self) -> Mapping[str, float]:
        return self._products

    def limit(self, work: Work) -> Limit | None:
        """Return the slower of the bytes and the products. Types without instructions of their own multiply as float32."""
        unit = work.dtype if work.dtype in self._products else "float32"
        seconds = work.flops / self._products[unit]
        moves = self._move(work) if work.nbytes >= self._vector else []
        if moves and least(moves[0]) >= seconds:
            return Limit("memory", moves)
        return Limit(unit, [self._multiply(unit, work.flops)]) if work.flops else None

    def _rate(self, unit: str) -> float:
        one = self._flops[unit] * self._threads
        return one / least(self._multiply(unit, int(one)))

    def _speed(self, work: Work) -> float:
        return work.nbytes / least(self._move(work)[0])

    def _multiply(self, unit: str, flops: int) -> Callable[[int], None]:
        multiply, number, threads = self._library.limits_multiply, UNITS.index(unit), self._threads
        share = flops / (self._flops[unit] * threads)

        def run(count: int) -> None:
            multiply(number, max(1, round(count * share)), threads)

        return run

    def _move(self, work: Work) -> list[Callable[[int], None]]:
        """Return the quickest way to move so many bytes on one thread, and on all, the quicker one first."""
        found = [
            min((self._moving(work, threads, way) for way in _WAYS), key=lambda run: least(run, 3))
            for threads in sorted({1, self._threads})
        ]
        return sorted(found, key=least)

    def _moving(self, work: Work, threads: int, way: int) -> Callable[[int], None]:
        """Return reads and writes as sums, copies, reads and fills: as many sums as there are two reads for a write."""
        read, written = work.read // self._vector, work.written // self._vector
        adds = max(0, min(read - written, written))
        copies = min(read, written) - adds
        fills, reads = written - adds - copies, read - 2 * adds - copies
        a, b, c = (self._array(place, max(read, written) * self._vector) for place in range(3))
        traffic = Traffic(a, b, c, adds, copies, reads, fills, way)
        move, held = self._library.limits_move, tuple(self._arrays)

        def run(count: int) -> None:
            assert held  # which a longer movement may replace
            move(ctypes.byref(traffic), count, threads)

        return run

    def _array(self, place: int, nbytes: int) -> int:
        """Return the address of at least so many bytes, written once, so that they are memory of their own."""
        held: Array = self._arrays[place]
        if held.nbytes < nbytes + _SLACK:
            held = self._arrays[place] = np.zeros(max(nbytes + _SLACK, _SLACK), np.uint8)
            held.fill(0)
        address = int(held.ctypes.data)
        return -(-address // _SLACK) * _SLACK
