"""The cases of Iota that are about values, and the numbers that its other cases are launched with."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep import TensorSpec
from ep_primitives.cases.case import Case
from ep_primitives.families.iota.descriptor import Iota
from ep_primitives.judging.accuracy import LISTED, REPRESENTABLE
from ep_primitives.judging.reference import compute_number, limits

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["launch_numbers", "value_cases"]

_SIZE: Final = 257
_FEW: Final = 9
_REACH: Final = 64.0


def launch_numbers(dtype: str, extent: int, rng: np.random.Generator) -> dict[str, Any]:
    """Return a start and a step, not 0, of which no element of a row of `extent` overflows a floating type."""
    row = ep.dtype(dtype)
    if row.kind in "iu":
        low, high = row.range
        start = int(rng.integers(low, high, dtype=np.dtype(dtype), endpoint=True))
        return {"start": start, "step": int(rng.integers(1, min(high, 2**40), endpoint=True)) | 1}
    size = float(rng.uniform(0.5, 1.0)) * _REACH / max(extent, 8)
    return _held(dtype, rng.uniform(-8, 8), size if rng.random() < 0.5 else -size)  # noqa: PLR2004 - half of them


def value_cases(dtype: str) -> Iterator[Case]:
    """Yield one case a pair of numbers."""
    return _integers(dtype) if ep.dtype(dtype).kind in "iu" else _floats(dtype)


def _integers(dtype: str) -> Iterator[Case]:
    low, high = ep.dtype(dtype).range
    pairs = {
        "from-0": (0, 1),
        "wraps": (high - 100, 7),
        "largest-step": (3, high),
        "bytes": (5, 0x0102030405060708 >> 8 * (8 - ep.dtype(dtype).itemsize)),
        **({"downwards": (100, -1), "least-step": (low, low + 1)} if low else {}),
    }
    for name, (start, step) in pairs.items():
        yield _case(name, dtype, start, step)
    yield _case("step-0", dtype, 7, 0, _FEW)


def _floats(dtype: str) -> Iterator[Case]:
    # Up to 2^8 in halves, for which bfloat16 has the digits.
    for name, start, step in (("from-0", 0.0, 1.0), ("halves", -64.0, 0.5), ("downwards", 128.0, -1.0)):
        yield _case(name, dtype, start, step, fill="exact", accuracy=REPRESENTABLE)
    yield _case("tenths", dtype, 0.1, 0.1)
    yield _case("cancels", dtype, -12.7, 0.1)
    tiny, largest = float(limits(dtype).smallest_subnormal), float(limits(dtype).max)
    yield _case("subnormal", dtype, 0.0, tiny)
    yield _case("to-the-largest", dtype, 0.0, largest / _SIZE)
    for name, numbers in (("nan", (math.nan, 1.0)), ("inf", (-math.inf, 1.0)), ("nan-step", (1.0, math.nan))):
        yield _case(
            f"start-{name}" if name != "nan-step" else name, dtype, *numbers, _FEW, fill="exact", accuracy=LISTED
        )
    yield _case("inf-step", dtype, 1.0, math.inf, _FEW, fill="exact", accuracy=LISTED)
    yield _case("step-0", dtype, 7.0, 0.0, _FEW, fill="exact", accuracy=LISTED)


def _case(name: str, dtype: str, start: Any, step: Any, size: int = _SIZE, **more: Any) -> Case:
    describe = partial(Iota.infer, TensorSpec(dtype, (size,)))
    return Case(name, describe, partial(_given, dtype, start, step), **{"fill": "designed", **more})


def _given(dtype: str, start: Any, step: Any, _rng: np.random.Generator) -> dict[str, Any]:
    return _held(dtype, start, step)


def _held(dtype: str, start: Any, step: Any) -> dict[str, Any]:
    """Return the numbers of a launch as kernels get them."""
    return {"start": compute_number(dtype, start).item(), "step": compute_number(dtype, step).item()}
