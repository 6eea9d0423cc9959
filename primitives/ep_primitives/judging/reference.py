"""References for results, and the arrays that references take, made of the stored inputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from ep.exchange.arrays import array_dtype

import ep

__all__ = ["LONG_EPS", "Array", "Reference", "array_dtype", "compute_number", "limits", "widened"]

Array = npt.NDArray[Any]

LONG_EPS: Final = float(np.finfo(np.longdouble).eps / np.finfo(np.float64).eps)
"""2^-11 where a long double has 64 bits of fraction; 1 where it is no wider, and a reference as inexact as a result."""

_WIDE: Final = {"f": np.float64, "c": np.complex128}


@dataclass(frozen=True, slots=True)
class Reference:
    """The true result of a case.

    value : shape of the output; float64 for floating and complex128 for complex outputs, exact in their own type for
            integers and bool
    scale : S, the sum of |terms|, for rows of accuracy `Conditioned`
    error : most error of `value` itself, in ulps of float64, for complex128 of its magnitude; 0 for narrower outputs
    """

    value: Array
    scale: Array | None = None
    error: float = 0.0


@cache
def limits(name: str) -> Any:
    """Return NumPy's `finfo` of a floating element type, or of one part of a complex one."""
    try:
        return np.finfo(array_dtype(name))
    except ValueError:
        import ml_dtypes  # noqa: PLC0415 - as above

        return ml_dtypes.finfo(array_dtype(name))  # type: ignore[no-untyped-call]


def widened(name: str, value: Any) -> Array:
    """Return an operand of element type `name` as its reference takes it.

    Floats become float64 and complex numbers complex128, which hold all of them exactly; of a bool any non-zero byte
    becomes 1; integers stay. A number, the value of a Scalar, is rounded to the compute type first.
    """
    if not isinstance(value, np.ndarray):
        value = np.asarray(compute_number(name, value))
    if name == "bool":
        return np.asarray(value.view(np.uint8) != 0)
    wide = _WIDE.get(ep.dtype(name).kind)
    with np.errstate(invalid="ignore"):  # a signalling NaN
        return np.asarray(value.astype(wide) if wide else value)


def compute_number(name: str, value: Any) -> Any:
    """Return a scalar or attribute as a kernel for element type `name` gets it: a NumPy number of the compute type."""
    return array_dtype(ep.dtype(name).compute).type(value)
