"""Evaluate formulas of two complex operands in the long double where it is wider, so that complex128 can be judged."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_primitives.reference import Array

__all__ = ["extended"]

Function = TypeVar("Function", bound="Callable[..., Any]")


def extended(function: Function) -> Function:
    """Return a function that takes complex operands in the long double and rounds what it gives, and others as they are."""

    @wraps(function)
    def evaluate(a: Array, b: Array) -> Any:
        if b.dtype.kind != "c":
            return function(a, b)
        result = function(a.astype(np.clongdouble), b.astype(np.clongdouble))
        return tuple(map(_rounded, result)) if isinstance(result, tuple) else _rounded(result)

    return cast("Function", evaluate)


def _rounded(wide: Any) -> Array:
    array = np.asarray(wide)
    return np.asarray(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))
