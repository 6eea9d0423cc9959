"""The comparison of float32 results in C, for more of them than NumPy gets through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from ep_primitives.judging.accuracy import Accuracy, Conditioned, Exact, Ulps

import ep

if TYPE_CHECKING:
    from ep_primitives.judging.reference import Reference

__all__ = ["Worst", "compare_native"]


class Worst(NamedTuple):
    """The largest error over its bound, that error in ulps, its index, and how many elements are outside their bound."""

    ratio: float
    error: float
    at: int
    wrong: int


def compare_native(result: npt.NDArray[np.float32], reference: Reference, accuracy: Accuracy) -> Worst:
    """Return the verdict of `compare.compare` for dense float32 results with one-dimensional float64 references.

    Raises UnavailableError if the native module was not built.
    """
    try:
        from ep_conformance._native import ffi, lib  # noqa: PLC0415 - only the profile `exhaustive` needs it
    except ImportError as error:
        message = f"the comparison in C was not built ({error}); install execution-provider with a C compiler there"
        raise ep.UnavailableError(message) from error
    promise = ffi.new("ep_accuracy *", _fields(accuracy))
    value = np.ascontiguousarray(reference.value, np.float64)
    scale = None if reference.scale is None else np.ascontiguousarray(reference.scale, np.float64)
    worst = lib.ep_compare(
        ffi.from_buffer("float[]", np.ascontiguousarray(result)),
        ffi.from_buffer("double[]", value),
        ffi.NULL if scale is None else ffi.from_buffer("double[]", scale),
        result.size,
        promise,
    )
    return Worst(worst.ratio, worst.error, worst.at, worst.wrong)


def _fields(accuracy: Accuracy) -> dict[str, Any]:
    match accuracy:
        case Exact():
            return {"exact": 1}
        case Ulps(n, floor):
            return {"ulps": n, "floor": floor}
        case Conditioned(k):
            return {"conditioned": k}
