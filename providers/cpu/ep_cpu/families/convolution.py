"""Sums over windows without columns in memory.

Few weights meet pieces of x with zeros around them, of which many places are summed in registers. With more of them a convolution is
a product, whose panels are copied from x as they are needed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from ep_primitives import Convolution, Pool

import ep
from ep_cpu.families.matmul import WindowedMatmul
from ep_cpu.kernel import Plan, Planned
from ep_cpu.native import open_native
from ep_cpu.windows import Windows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_primitives.sliding.descriptor import SlidingDescriptor

    from ep_cpu.native import Native

__all__ = ["IMPLEMENTATIONS", "Direct", "DirectAverage", "DirectMax"]

_PLACES: Final = ("x", "w", "bias", "y")
"""The tensors of a native plan, in its order."""
_MOST_WEIGHTS: Final = 1 << 16
"""Of a group: they are read again for each block of places, from the cache of a core."""
_MANY_WEIGHTS: Final = 3 << 14
"""Of a group, from which on a product is faster, if it is possible."""
_FEW: Final = 16
"""Channels of y for which a product is too small."""
_VECTOR: Final = {"baseline": 16, "avx2": 32}
"""Bytes of a vector, else _LONGEST."""
_LONGEST: Final = 64
_VECTORS: Final = 3
"""Of places that are summed at once."""
_THREADS: Final = 2
"""For which pieces are measured: what a convolution is, and so its bits, does not depend on how many there are."""
_LEAST_COUNTED: Final = 0.8
"""The share of all places in rows and vectors that count."""
_WINDOW: Final = 1024
_BEYOND: Final = 128
"""As in the native interface."""
_ROOM: Final = 7 << 16
"""Bytes of a piece of x, its weights and what is made of it, in the cache of a core."""
_CHAIN: Final = 64
"""Elements of a window that are added one by one: what Reduce promises of sums allows no more."""
_FLOAT: Final = 4
_DEALT: Final = 2
"""A stride whose elements are brought, from a line to two, as fast as neighbours are."""
_SHORT: Final = 32
"""Elements of a line."""


class Direct(Planned):
    """Convolution with few weights a group: products with columns would cost less than the columns. Floating types."""

    def accepts(self, descriptor: Any, info: ep.DeviceInfo) -> bool:
        super().accepts(descriptor, info)
        if reason := self.reason(descriptor) or self.better(descriptor):
            message = f"{descriptor.title}: {reason}"
            raise ep.UnsupportedError(message)
        return True

    def reason(self, descriptor: Any) -> str:
        """Return why a descriptor is refused, "" if it is not."""
        made, channels = self.channels(descriptor)
        size = math.prod(descriptor.sliding.window)
        if made * channels * size > _MOST_WEIGHTS:
            return f"{made * channels * size} weights of a group are more than {_MOST_WEIGHTS}"
        if size > _WINDOW:
            return f"a window of {size} elements has more than {_WINDOW}"
        if channels > 1 and descriptor.x.itemsize < _FLOAT:
            return "products of 16-bit numbers have instructions of their own"
        if size == 1 and channels > 1 and set(descriptor.strides) == {1}:
            return "windows of one element are products of x as it lies"
        if not descriptor.out.size or not channels:
            return "there is nothing to sum"
        if self._room(descriptor, 1) > 2 * _ROOM:
            return f"one line of windows needs more than {2 * _ROOM} bytes"
        return ""

    def better(self, descriptor: Any) -> str:
        """Return why a product of windows is faster, "" if it is not."""
        made, channels = self.channels(descriptor)
        if made < _FEW or _WINDOWED.reason(descriptor):
            return ""
        if made * channels * math.prod(descriptor.sliding.window) > _MANY_WEIGHTS:
            return "products have more sums for each element of so many weights"
        windows, native = Windows.of(descriptor), open_native()
        lines = self._lines(descriptor, _THREADS)
        lanes = _VECTOR.get(native.isa, _LONGEST) // ep.dtype(ep.dtype(descriptor.x.dtype).compute).itemsize
        summed = -(-windows.elements(lines)[1] // (_VECTORS * lanes)) * _VECTORS * lanes
        if lines * math.prod(windows.count[1:]) < _LEAST_COUNTED * summed:
            return "too many of the places that are summed do not count"
        return ""

    def groups(self, descriptor: Any) -> int:
        """Return how many groups the channels make."""
        groups: int = descriptor.groups
        return groups

    def divisor(self, descriptor: Any) -> int:
        """Return the number that sums are divided by."""
        del descriptor
        return 1

    def counted(self, descriptor: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the first coordinates of x that count in an average, and those behind the last ones."""
        return (0,) * len(descriptor.strides), descriptor.x.shape[2:]

    def channels(self, descriptor: SlidingDescriptor) -> tuple[int, int]:
        """Return how many channels of y a group makes, of how many of x."""
        groups = self.groups(descriptor)
        return descriptor.out.shape[1] // groups, descriptor.x.shape[1] // groups

    def plan(self, descriptor: Any, native: Native) -> Plan:
        windows, groups, (made, channels) = Windows.of(descriptor), self.groups(descriptor), self.channels(descriptor)
        threads, images, count = native.lib.ep_threads(), descriptor.out.shape[0], windows.count[0]
        lines = self._lines(descriptor, threads)
        specs = [descriptor.present.get(name) for name in _PLACES]
        x, w, bias, y = specs
        numbers = {role.name: number for number, (role, spec) in enumerate(descriptor.tensors) if spec is not None}
        fields = {
            "place": [*(numbers.get(name, -1) for name in _PLACES), len(descriptor.tensors)],
            "keeps_weights": w is not None and w.dtype == ep.dtype(w.dtype).compute and w.is_dense,
            "parts": min(threads, images * groups * -(-count // lines)),
            "images": images,
            "groups": groups,
            "made": made,
            "channels": channels,
            "lines": lines,
            "room": self._room(descriptor, lines),
            "divisor": self.divisor(descriptor),
            "counted": Windows.beside(self.counted(descriptor)),
            "work": descriptor.nbytes_moved + descriptor.flops // 8,
            "offset": _bytes(specs, [0 if spec is None else spec.offset for spec in specs]),
            "image": _bytes(specs, [x.strides[0], 0, 0, y.strides[0]]),
            "group": _bytes(specs, [x.strides[1] * channels, _step(w) * made, _step(bias) * made, y.strides[1] * made]),
            "channel_made": _bytes(specs, [0, _step(w), _step(bias), y.strides[1]]),
            "windows": windows.fields(x),
            "w_channel": 0 if w is None else w.strides[1] * w.itemsize,
            "w_step": windows.steps(w),
            "y_step": windows.steps(y),
        }
        return Plan("ep_convolution_plan", fields, scratch=lambda plan: plan.parts * plan.room)

    def _lines(self, descriptor: SlidingDescriptor, threads: int) -> int:
        """Return how many windows along the first dimension make a piece: threads have several, which fit a cache."""
        count = Windows.of(descriptor).count[0]
        least = 4 * threads if threads > 1 else 1
        lines: int = -(-count // -(-least // (descriptor.out.shape[0] * self.groups(descriptor))))
        while lines > 1 and self._room(descriptor, lines) > _ROOM:
            lines = -(-lines // 2)
        return lines

    def _room(self, descriptor: SlidingDescriptor, lines: int) -> int:
        """Return the bytes of scratch of a piece."""
        made, channels = self.channels(descriptor)
        given, places = Windows.of(descriptor).elements(lines)
        weights = made * channels * math.prod(descriptor.sliding.window) + made
        counts = descriptor.out.shape[-1]
        elements = weights + counts + channels * given + _BEYOND + made * (places + _BEYOND)
        line = _BEYOND // 2
        return -(-elements // line) * line * ep.dtype(ep.dtype(descriptor.x.dtype).compute).itemsize


class DirectPool(Direct):
    """Pools of one op: each channel is a group of its own."""

    op: str

    def reason(self, descriptor: Pool) -> str:
        return super().reason(descriptor) if descriptor.op == self.op else f"of {self.op} alone"

    def better(self, descriptor: Pool) -> str:
        if self.reaches(descriptor) or not _are_apart(descriptor):
            return ""
        return "windows inside x that lie apart are reduced where they lie"

    def reaches(self, descriptor: Pool) -> bool:
        """Return True if windows reach beyond x."""
        found: bool = descriptor.sliding.touches_more(descriptor.x.shape[2:], descriptor.out.shape[2:])
        return found

    def groups(self, descriptor: Pool) -> int:
        return descriptor.x.shape[1] or 1


class DirectMax(DirectPool):
    """The largest elements of windows that reach beyond x, of which each begins beside the one before, or in short lines."""

    op = "max"

    def better(self, descriptor: Pool) -> str:
        is_beside = set(descriptor.strides) == {1} or self._has_short_lines(descriptor)
        if not self.reaches(descriptor) and not is_beside:
            return "windows inside x are reduced where they lie"
        return super().better(descriptor)

    def _has_short_lines(self, descriptor: Pool) -> bool:
        """Return True if windows two apart meet elements of a line again, and loops along it would be short."""
        overlap = descriptor.strides[-1] == _DEALT < descriptor.sliding.window[-1]
        return overlap and descriptor.out.shape[-1] <= _SHORT and descriptor.x.itemsize >= _FLOAT


class DirectAverage(DirectPool):
    """Averages over small windows: convolutions of each channel with ones, divided by the numbers of elements that count."""

    op = "average"

    def reason(self, descriptor: Pool) -> str:
        if descriptor.terms > _CHAIN:
            return f"a window of {descriptor.terms} elements has more than {_CHAIN}"
        if not all(_counts_some(*each) for each in self._ends(descriptor)):
            return "no element of a window counts"
        return super().reason(descriptor)

    def divisor(self, descriptor: Pool) -> int:
        """Return the size of a window, 0 if some have elements that do not count."""
        first, last = self.counted(descriptor)
        sliding, reach = descriptor.sliding, descriptor.sliding.reach(descriptor.out.shape[2:])
        each = zip(sliding.before, reach, first, last, strict=True)
        are_alike = all(-before >= begin and most - before <= end for before, most, begin, end in each)
        return descriptor.terms if are_alike else 0

    def counted(self, descriptor: Pool) -> tuple[tuple[int, ...], tuple[int, ...]]:
        extents, sliding = descriptor.x.shape[2:], descriptor.sliding
        if not descriptor.counts_pads:
            return (0,) * len(extents), extents
        ends = tuple(extent + after for extent, after in zip(extents, sliding.after, strict=True))
        return tuple(-before for before in sliding.before), ends

    def _ends(self, descriptor: Pool) -> Iterator[tuple[range, int, int]]:
        """Yield the places of the first and the last window along each dimension, and the first and the last place that counts."""
        sliding, counts = descriptor.sliding, descriptor.out.shape[2:]
        first, last = self.counted(descriptor)
        for axis, count in enumerate(counts):
            for window in (0, count - 1):
                begin = window * sliding.strides[axis] - sliding.before[axis]
                step = sliding.dilations[axis]
                yield range(begin, begin + sliding.window[axis] * step, step), first[axis], last[axis] - 1


def _are_apart(descriptor: Pool) -> bool:
    """Return True if no two windows meet the same element, nor begin beside one another or two apart along a line."""
    sliding, counts = descriptor.sliding, descriptor.out.shape[2:]
    each = zip(sliding.strides, sliding.spans, counts, strict=True)
    is_apart = all(stride >= span or count == 1 for stride, span, count in each)
    return is_apart and (counts[-1] == 1 or sliding.strides[-1] > _DEALT)


def _counts_some(places: range, first: int, last: int) -> bool:
    """Return True if one of the places is from the first one to the last one."""
    begin = max(-(-(first - places.start) // places.step), 0)
    return begin < len(places) and first <= places[begin] <= last


def _bytes(specs: list[ep.TensorSpec | None], elements: list[int]) -> list[int]:
    """Return numbers of elements of each tensor in bytes."""
    return [0 if spec is None else number * spec.itemsize for spec, number in zip(specs, elements, strict=True)]


def _step(spec: ep.TensorSpec | None) -> int:
    """Return the stride of the first dimension, 0 for an absent tensor."""
    return 0 if spec is None else spec.strides[0]


_WINDOWED: Final = WindowedMatmul()
IMPLEMENTATIONS: Final = {Convolution: (Direct(), _WINDOWED), Pool: (DirectMax(), DirectAverage())}
