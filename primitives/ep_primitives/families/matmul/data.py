"""Data for the operands of Matmul's cases: random numbers, and the contents that show a fault of one kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_primitives.judging.reference import Array, array_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["CONTENTS", "random"]

_SMALL: Final = 0.1
_NEARLY: Final = 2.0**-7  # bfloat16 holds 1 + 2^-7


def random(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    """Return numbers from -2 to 2, a tenth of them sixteen times smaller; of an integer type any."""
    row = ep.dtype(dtype)
    if row.kind in "iu":
        low, high = row.range
        return rng.integers(low, high, shape, dtype=array_dtype(dtype), endpoint=True)
    real = _reals(rng, shape)
    return (real + 1j * _reals(rng, shape) if row.kind == "c" else real).astype(array_dtype(dtype))


def _reals(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return np.asarray(rng.uniform(-2, 2, shape) * np.where(rng.random(shape) < _SMALL, 1 / 16, 1))


def _odd_integers(rng: np.random.Generator, inputs: dict[str, Any]) -> None:
    """Make a and b of -3, -1, 1 and 3: an odd number of products has an exact sum, which is not 0.

    For complex numbers the imaginary parts of b are odd and a's are 2 or -2, so that both parts of a sum are odd.
    """
    for name, imaginary in (("a", (2, -2)), ("b", (1, 3, -1, -3))):
        values = inputs[name]
        odd = rng.choice(np.array([1, 3, -1, -3]), values.shape)
        if values.dtype.kind == "c":
            odd = odd + 1j * rng.choice(np.array(imaginary), values.shape)
        inputs[name] = np.abs(odd).astype(values.dtype) if values.dtype.kind == "u" else odd.astype(values.dtype)


def _cancelling(rng: np.random.Generator, inputs: dict[str, Any]) -> None:
    """Make the second half of the products nearly the opposite of the first."""
    a, b = inputs["a"], inputs["b"]
    half = a.shape[-1] // 2
    order = rng.permutation(half)
    opposite = -b[..., order, :]
    a[..., half:] = a[..., order]
    b[..., half:, :] = opposite + 1 if b.dtype.kind in "iu" else opposite * b.dtype.type(1 + _NEARLY)


def _ends(rng: np.random.Generator, inputs: dict[str, Any]) -> None:
    """Make a and b the ends of their type, so that pairs of products are as large as they can be."""
    for name in "ab":
        values = inputs[name]
        inputs[name] = rng.choice(np.array(ep.dtype(values.dtype.name).range, values.dtype), values.shape)


def _positive(rng: np.random.Generator, inputs: dict[str, Any]) -> None:
    """Make all products positive and of like sizes, so that the rounding errors of a sum add up unless they are unbiased."""
    for name in "ab":
        values = inputs[name]
        inputs[name] = rng.uniform(0.5, 2, values.shape).astype(values.dtype)


def _not_finite(rng: np.random.Generator, inputs: dict[str, Any]) -> None:
    """Put in NaN, infinities of both signs, and zeros that meet them."""
    del rng
    a, b = inputs["a"], inputs["b"]
    a[3, 2] = np.nan
    a[5, 1] = np.inf
    a[10, 1], a[10, 6] = np.inf, -np.inf
    b[4, 7] = -np.inf
    a[8, 4] = b[1, 3] = 0.0


def _unread_factors(rng: np.random.Generator, inputs: dict[str, Any]) -> None:
    """Make a and b NaN, where that exists."""
    del rng
    for name in "ab":
        _spoil(inputs[name])


def _unread_out(rng: np.random.Generator, inputs: dict[str, Any]) -> None:
    """Fill the output with NaN before the launch, if its type has one."""
    del rng
    _spoil(inputs["out"])


def _spoil(values: Array) -> None:
    if values.dtype.kind not in "iu":
        values[...] = np.nan


CONTENTS: Final[Mapping[str, Callable[[np.random.Generator, dict[str, Any]], None]]] = {
    "odd-integers": _odd_integers,
    "cancelling": _cancelling,
    "ends": _ends,
    "positive": _positive,
    "not-finite": _not_finite,
    "unread-factors": _unread_factors,
    "unread-out": _unread_out,
}
"""By name, the functions that change the random operands of a case."""
