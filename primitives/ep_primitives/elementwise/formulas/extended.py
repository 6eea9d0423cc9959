"""Evaluate formulas of complex operands in the long double where it is wider, so that complex128 can be judged."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_primitives.judging.reference import Array

__all__ = ["extended"]

Function = TypeVar("Function", bound="Callable[..., Any]")


def extended(function: Function, real: Callable[..., Any] | None = None) -> Function:
    """Return a function that computes complex operands in the long double and rounds once, and others as they are.

    real : the function for others, if it is another one
    """

    @wraps(function)
    def evaluate(*operands: Array) -> Any:
        if operands[-1].dtype.kind != "c":
            return (real or function)(*operands)
        result = function(*(operand.astype(np.clongdouble) for operand in operands))
        return tuple(map(_rounded, result)) if isinstance(result, tuple) else _rounded(result)

    return cast("Function", evaluate)


def _rounded(wide: Any) -> Array:
    array = np.asarray(wide)
    return np.asarray(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))
