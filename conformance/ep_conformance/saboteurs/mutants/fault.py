"""What a mutant makes of a right result; each is a mistake that kernels were seen to make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from ep_primitives.judging.reference import limits

import ep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_conformance.saboteurs.kernel import Array

__all__ = ["FAULTS"]

_BLOCK: Final = 16


def _dropped(out: Array, before: Array) -> None:
    """Leave the last element as it was."""
    out.reshape(-1)[-1:] = before.reshape(-1)[-1:]


def _skipped(out: Array, before: Array) -> None:
    """Leave an element in the middle as it was."""
    at = out.size // 2
    out.reshape(-1)[at : at + 1] = before.reshape(-1)[at : at + 1]


def _doubled(out: Array, before: Array) -> None:
    """Write the last element but one twice."""
    del before
    flat = out.reshape(-1)
    flat[-1:] = flat[-2:][:1].copy()


def _shifted(out: Array, before: Array) -> None:
    """Write every element a place too far."""
    del before
    out[...] = np.roll(out.reshape(-1), 1).reshape(out.shape)


def _swapped(out: Array, before: Array) -> None:
    """Exchange the first two elements."""
    del before
    flat = out.reshape(-1)
    flat[:2] = flat[:2][::-1].copy()


def _stale(out: Array, before: Array) -> None:
    """Write nothing."""
    out[...] = before


def _truncated(out: Array, before: Array) -> None:
    """Leave all elements behind the last whole block as they were."""
    end = out.size - out.size % _BLOCK if out.size >= _BLOCK else out.size - 1
    out.reshape(-1)[end:] = before.reshape(-1)[end:]


def _neighbour(out: Array, before: Array) -> None:
    """Write the last row but one into the last row, too."""
    del before
    rows = out.reshape(-1, out.shape[-1]) if out.ndim > 1 else out.reshape(-1, 1)
    rows[-1:] = rows[-2:][:1].copy()


def _zeroed(out: Array, before: Array) -> None:
    """Write 0 into the last element."""
    del before
    out.reshape(-1)[-1:] = 0


def _flushed(out: Array, before: Array) -> None:
    """Write 0 for numbers below the least normal one."""
    del before
    if ep.dtype(out.dtype.name).kind == "f" and out.dtype.itemsize > 1:
        out[np.abs(out.astype(np.float64)) < float(limits(out.dtype.name).smallest_normal)] = 0


FAULTS: Final[Mapping[str, Callable[[Array, Array], None]]] = {
    "dropped": _dropped,
    "skipped": _skipped,
    "doubled": _doubled,
    "shifted": _shifted,
    "swapped": _swapped,
    "stale": _stale,
    "truncated": _truncated,
    "neighbour": _neighbour,
    "zeroed": _zeroed,
    "flushed": _flushed,
}
"""By name: functions of the right result, which they spoil, and of what the output's memory held before."""
