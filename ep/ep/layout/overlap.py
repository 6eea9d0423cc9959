"""Which elements two tensors share: exact answers with bounded work, and a plain None where that is not enough."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ep.layout.spec import TensorSpec

__all__ = ["is_same", "overlap", "overlaps_itself"]

_WORK: Final = 20_000
_STEPS: Final = 64


def is_same(first: TensorSpec, second: TensorSpec) -> bool:
    """Say whether two specs, placed at one memory offset, visit the same bytes in the same order."""
    return (
        first.itemsize == second.itemsize
        and first.shape == second.shape
        and first.strides == second.strides
        and first.offset == second.offset
    )


@functools.lru_cache(maxsize=4096)
def overlaps_itself(spec: TensorSpec) -> bool:
    """Say whether two indices of `spec` name one element; a case that bounded work cannot decide counts as yes."""
    dims = _dims(spec, 1)
    if dims is None:
        return False
    if any(stride == 0 for stride, _ in dims):
        return True
    reach = 0
    for stride, extent in sorted(dims):
        if stride <= reach:
            break
        reach += stride * (extent - 1)
    else:
        return False
    # Two indices meet when their difference, extent-1 either way in each dimension, sums to zero without being zero.
    for position, (stride, extent) in enumerate(dims):
        rest = [(s, 2 * e - 1) for i, (s, e) in enumerate(dims) if i != position]
        shift = sum(s * (e // 2) for s, e in rest)
        # The rest sums to multiples of its greatest common divisor alone.
        divisor = math.gcd(*(s for s, _ in rest))
        steps = range(divisor // math.gcd(divisor, stride), extent, divisor // math.gcd(divisor, stride))
        if len(steps) > _STEPS or any(_reaches(rest, shift - stride * step) is not False for step in steps):
            return True
    return False


@functools.lru_cache(maxsize=4096)
def overlap(first: TensorSpec, second: TensorSpec, distance: int) -> bool | None:
    """Say whether two tensors share a byte; None if bounded work cannot decide.

    distance : place of the second memory minus that of the first, in bytes

    Both spans are boxes of strides, so a shared byte is a solution of a bounded linear equation: it is decided by the
    greatest common divisor, then by an exact search of at most 20,000 steps.
    """
    low_first, low_second = first.lo * first.itemsize, second.lo * second.itemsize + distance
    high_first, high_second = first.hi * first.itemsize, second.hi * second.itemsize + distance
    if not first.size or not second.size or high_first <= low_second or high_second <= low_first:
        return False
    ours, theirs = _dims(first, first.itemsize), _dims(second, second.itemsize)
    if ours is None or theirs is None:
        return False
    # Bytes of one element are one more dimension of stride 1 each.
    dims = [*ours, (1, first.itemsize), *theirs, (1, second.itemsize)]
    # With every index of the second tensor mirrored, all strides are positive and the target is one number.
    top_second = high_second - 1
    return _reaches([d for d in dims if d[0]], top_second - low_first)


def _dims(spec: TensorSpec, unit: int) -> list[tuple[int, int]] | None:
    """Return (absolute stride in units, extent) of the dimensions that matter, None if there is no element."""
    if not spec.size:
        return None
    return [(abs(s) * unit, e) for s, e in zip(spec.strides, spec.shape, strict=True) if e > 1]


def _reaches(dims: list[tuple[int, int]], target: int) -> bool | None:
    """Say whether sum(stride * i) == target for some 0 <= i < extent; None after too much work."""
    merged: dict[int, int] = {}
    for stride, extent in dims:
        merged[stride] = merged.get(stride, 1) + extent - 1
    order = sorted(merged.items(), reverse=True)
    # reach[k] is the largest sum that dimensions k and later make, which bounds every index from both sides.
    reach = [0]
    for stride, extent in reversed(order):
        reach.append(reach[-1] + stride * (extent - 1))
    reach.reverse()
    work = _WORK
    stack, seen = [(0, target)], set()
    while stack:
        level, rest = place = stack.pop()
        if rest == 0:
            return True
        if level == len(order) or not 0 <= rest <= reach[level] or place in seen:
            continue
        seen.add(place)
        stride, extent = order[level]
        lowest = max(0, -(-(rest - reach[level + 1]) // stride))
        highest = min(extent - 1, rest // stride)
        work -= 1 + max(0, highest - lowest)
        if work < 0:
            return None
        stack.extend((level + 1, rest - stride * index) for index in range(lowest, highest + 1))
    return False
