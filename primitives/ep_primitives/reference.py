"""What a result is judged against, and how the stored inputs become the arrays that references take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import ep

__all__ = ["Array", "Reference", "array_dtype", "compute_number", "widened"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Reference:
    """The true result of a case.

    value : shape of the output; float64 for floating outputs, exact in their own type for integers and bool
    scale : S, the sum of |terms|, for rows of accuracy `Conditioned`
    error : what `value` itself may be off by, in ulps of float64; 0 for narrower outputs
    """

    value: Array
    scale: Array | None = None
    error: float = 0.0


def array_dtype(name: str) -> np.dtype[Any]:
    """Return the NumPy dtype of an element type of EP; those that NumPy lacks come from ml_dtypes."""
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes  # noqa: PLC0415 - 60 ms, and few cells need it

        lacking: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return lacking


def widened(name: str, value: Any) -> Array:
    """Return an operand of element type `name` as its reference takes it.

    Floats become float64, which holds all of them exactly; of a bool any non-zero byte becomes 1; integers stay. A
    number, the value of a Scalar, is rounded to the compute type first.
    """
    if not isinstance(value, np.ndarray):
        value = np.asarray(compute_number(name, value))
    if name == "bool":
        return np.asarray(value.view(np.uint8) != 0)
    return np.asarray(value.astype(np.float64) if ep.dtype(name).kind == "f" else value)


def compute_number(name: str, value: Any) -> Any:
    """Return a scalar or attribute as a kernel for element type `name` gets it: a NumPy number of the compute type."""
    return array_dtype(ep.dtype(name).compute).type(value)
