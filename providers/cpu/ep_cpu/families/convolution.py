"""Sums over windows without columns in memory.

Few weights meet pieces of x with zeros around them, of which many places are summed in registers. With more of them a convolution is
a product, whose panels are copied from x as they are needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ep_primitives import Convolution, Matmul, Pool
from ep_primitives.families.convolution.stages import grouped, matrix

import ep
from ep_cpu.kernel import Plan, Planned
from ep_cpu.native import open_native
from ep_cpu.numbers import numbers_of

if TYPE_CHECKING:
    from ep_primitives.sliding.descriptor import SlidingDescriptor

    from ep_cpu.native import Native, Row

__all__ = ["IMPLEMENTATIONS", "Direct", "DirectAverage", "Windowed"]

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


@dataclass(frozen=True)
class _Spatial:
    """The spatial dimensions, at least two of them: extents of x, counts of y, and how windows lie."""

    extent: tuple[int, ...]
    before: tuple[int, ...]
    count: tuple[int, ...]
    window: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]

    @classmethod
    def of(cls, descriptor: SlidingDescriptor) -> _Spatial:
        """Return those of a descriptor; before a single one stands one of extent 1."""
        sliding = descriptor.sliding
        found = cls(
            descriptor.x.shape[2:],
            sliding.before,
            descriptor.out.shape[2:],
            sliding.window,
            sliding.strides,
            sliding.dilations,
        )
        if len(found.extent) > 1:
            return found
        return cls(*((0 if name == "before" else 1, *each) for name, each in vars(found).items()))

    def elements(self, windows: int) -> tuple[int, int]:
        """Return how many elements of a channel of x and of y so many windows along the first dimension take."""
        given = places = 1
        for axis, count in enumerate((windows, *self.count[1:])):
            stride = self.stride[axis]
            extent = count - 1 + ((self.window[axis] - 1) * self.dilation[axis] + stride) // stride
            given *= extent * stride
            places *= extent if axis else count
        return given, places


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
        spatial, native = _Spatial.of(descriptor), open_native()
        windows = self._windows(descriptor, _THREADS)
        lanes = _VECTOR.get(native.isa, _LONGEST) // ep.dtype(ep.dtype(descriptor.x.dtype).compute).itemsize
        summed = -(-spatial.elements(windows)[1] // (_VECTORS * lanes)) * _VECTORS * lanes
        if windows * math.prod(spatial.count[1:]) < _LEAST_COUNTED * summed:
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

    def channels(self, descriptor: SlidingDescriptor) -> tuple[int, int]:
        """Return how many channels of y a group makes, of how many of x."""
        groups = self.groups(descriptor)
        return descriptor.out.shape[1] // groups, descriptor.x.shape[1] // groups

    def plan(self, descriptor: Any, native: Native) -> Plan:
        spatial, groups, (made, channels) = (
            _Spatial.of(descriptor),
            self.groups(descriptor),
            self.channels(descriptor),
        )
        threads, images, count = native.lib.ep_threads(), descriptor.out.shape[0], spatial.count[0]
        windows = self._windows(descriptor, threads)
        specs = [descriptor.present.get(name) for name in _PLACES]
        x, w, bias, y = specs
        numbers = {role.name: number for number, (role, spec) in enumerate(descriptor.tensors) if spec is not None}
        fields = {
            "place": [*(numbers.get(name, -1) for name in _PLACES), len(descriptor.tensors)],
            "keeps_weights": w is not None and w.dtype == ep.dtype(w.dtype).compute and w.is_dense,
            "ndim": len(spatial.count),
            "parts": min(threads, images * groups * -(-count // windows)),
            "images": images,
            "groups": groups,
            "made": made,
            "channels": channels,
            "windows": windows,
            "room": self._room(descriptor, windows),
            "divisor": self.divisor(descriptor),
            "work": descriptor.nbytes_moved + descriptor.flops // 8,
            "offset": _bytes(specs, [0 if spec is None else spec.offset for spec in specs]),
            "image": _bytes(specs, [x.strides[0], 0, 0, y.strides[0]]),
            "group": _bytes(specs, [x.strides[1] * channels, _step(w) * made, _step(bias) * made, y.strides[1] * made]),
            "channel_made": _bytes(specs, [0, _step(w), _step(bias), y.strides[1]]),
            "channel_given": _bytes(specs, [x.strides[1], 0 if w is None else w.strides[1], 0, 0]),
            "step": [_steps(x, spatial), _steps(w, spatial), (), _steps(y, spatial)],
            **vars(spatial),
        }
        return Plan("ep_convolution_plan", fields, scratch=lambda plan: plan.parts * plan.room)

    def _windows(self, descriptor: SlidingDescriptor, threads: int) -> int:
        """Return how many windows along the first dimension make a piece: threads have several, which fit a cache."""
        count = _Spatial.of(descriptor).count[0]
        least = 4 * threads if threads > 1 else 1
        windows: int = -(-count // -(-least // (descriptor.out.shape[0] * self.groups(descriptor))))
        while windows > 1 and self._room(descriptor, windows) > _ROOM:
            windows = -(-windows // 2)
        return windows

    def _room(self, descriptor: SlidingDescriptor, windows: int) -> int:
        """Return the bytes of scratch of a piece."""
        made, channels = self.channels(descriptor)
        given, places = _Spatial.of(descriptor).elements(windows)
        weights = made * channels * math.prod(descriptor.sliding.window) + made
        elements = weights + channels * given + _BEYOND + made * (places + _BEYOND)
        line = _BEYOND // 2
        return -(-elements // line) * line * ep.dtype(ep.dtype(descriptor.x.dtype).compute).itemsize


class DirectAverage(Direct):
    """Averages over small windows whose elements and pads all count: convolutions of each channel with ones."""

    def reason(self, descriptor: Pool) -> str:
        sliding, extents, counts = descriptor.sliding, descriptor.x.shape[2:], descriptor.out.shape[2:]
        behind = sliding.behind(extents, counts)
        reaches = any(touched > after for touched, after in zip(behind, sliding.after, strict=True))
        if sliding.touches_more(extents, counts) and (reaches or not descriptor.counts_pads):
            return "numbers of elements differ from window to window"
        if self.divisor(descriptor) > _CHAIN:
            return f"a window of {self.divisor(descriptor)} elements has more than {_CHAIN}"
        return super().reason(descriptor)

    def better(self, descriptor: Pool) -> str:
        del descriptor
        return ""

    def groups(self, descriptor: Pool) -> int:
        return descriptor.x.shape[1] or 1

    def divisor(self, descriptor: Pool) -> int:
        return math.prod(descriptor.sliding.window)


class Windowed(Planned):
    """Convolution with many weights: products of weights and windows, as Matmul makes them of the same matrices."""

    def row(self, descriptor: Convolution) -> Row:
        return Matmul.family, "-", descriptor.x.dtype, descriptor.out.dtype

    def accepts(self, descriptor: Convolution, info: ep.DeviceInfo) -> bool:
        if reason := self.reason(descriptor):
            message = f"{descriptor.title}: {reason}"
            raise ep.UnsupportedError(message)
        return super().accepts(descriptor, info)

    def reason(self, descriptor: Convolution) -> str:
        """Return why a descriptor is refused, "" if it is not."""
        if not all(spec.size for _, spec in descriptor.tensors if spec is not None):
            return "there is nothing to sum"
        weights, made = _matrices(descriptor)
        if weights is None or made is None:
            return "strides of w or y make no matrix"
        if abs(made.strides[-1]) > abs(made.strides[-2]) or descriptor.x.strides[-1] != 1:
            return "the channels of x or y are neighbours"
        if math.prod(descriptor.sliding.window) == 1:
            return "windows of one element are a matrix, of x or of a copy of some of it"
        if len(descriptor.lower()) == 1:
            return "windows are a matrix as they lie"
        return ""

    def plan(self, descriptor: Convolution, native: Native) -> Plan:
        x, w, bias, y = descriptor.x, descriptor.w, descriptor.bias, descriptor.out
        weights, made = _matrices(descriptor)
        assert weights is not None
        assert made is not None
        groups, sliding, spatial = descriptor.groups, descriptor.sliding, len(descriptor.strides)
        specs = [w, x, bias, y]
        windows = {
            "ndim": spatial,
            "channel": x.strides[1] * x.itemsize,
            "step": [stride * x.itemsize for stride in x.strides[2:]],
            "extent": x.shape[2:],
            "before": sliding.before,
            "count": y.shape[2:],
            "window": sliding.window,
            "stride": sliding.strides,
            "dilation": sliding.dilations,
        }
        (_, m, k), n = weights.shape, made.shape[-1]
        each = x.shape[1] // groups
        fields = {
            "place": (1, 0, 2, 3),
            "activation": native.ffi.NULL,
            "dtype": getattr(native.lib, f"EP_{x.dtype}"),
            "conjugate": (False, False),
            "has_bias": bias is not None,
            "kept": 2,
            "ndim": 2,
            "m": m,
            "n": n,
            "k": k,
            "offset": _bytes(specs, [0 if spec is None else spec.offset for spec in specs]),
            "line": _bytes(specs, [weights.strides[-2], 0, _step(bias), made.strides[-2]]),
            "column": _bytes(specs, [weights.strides[-1], 0, 0, made.strides[-1]]),
            "extent": [x.shape[0], groups],
            "stride": [
                [image * size, group * size]
                for size, image, group in (
                    (w.itemsize, 0, m * w.strides[0]),
                    (x.itemsize, x.strides[0], each * x.strides[1]),
                    (y.itemsize, 0, m * _step(bias)),
                    (y.itemsize, y.strides[0], m * y.strides[1]),
                )
            ],
            "windows": native.ffi.new("ep_windows *", windows),
        }
        return Plan("ep_matmul_plan", fields, _alone)


def _alone(_: tuple[Any, ...]) -> bytes:
    """Return the numbers of a product that is neither scaled nor added to anything."""
    return _ALONE


_ALONE: Final = numbers_of("complex128", 2)((1, 0))


def _matrices(descriptor: Convolution) -> tuple[ep.TensorSpec | None, ep.TensorSpec | None]:
    """Return the weights and y as matrices of each group, None for one of which strides make none."""
    spatial = len(descriptor.strides)
    weights = matrix(grouped(descriptor, descriptor.w), (1, 1, spatial + 1))
    return weights, matrix(grouped(descriptor, descriptor.out, axis=1), (1, 1, 1, spatial))


def _bytes(specs: list[ep.TensorSpec | None], elements: list[int]) -> list[int]:
    """Return numbers of elements of each tensor in bytes."""
    return [0 if spec is None else number * spec.itemsize for spec, number in zip(specs, elements, strict=True)]


def _step(spec: ep.TensorSpec | None) -> int:
    """Return the stride of the first dimension, 0 for an absent tensor."""
    return 0 if spec is None else spec.strides[0]


def _steps(spec: ep.TensorSpec | None, spatial: _Spatial) -> tuple[int, ...]:
    """Return the strides of the spatial dimensions in bytes."""
    if spec is None:
        return ()
    own = [stride * spec.itemsize for stride in spec.strides[2:]]
    return (*(0,) * (len(spatial.count) - len(own)), *own)


_WINDOWED: Final = Windowed()
IMPLEMENTATIONS: Final = {Convolution: (Direct(), _WINDOWED), Pool: (DirectAverage(),)}
