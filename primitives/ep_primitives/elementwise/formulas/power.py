"""Powers, and their gradients as products that no factor leaves the range of before the product does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ep_primitives.judging.reference import Array

__all__ = ["scalar_base_power_grad", "scalar_exp_power_grad"]


def scalar_base_power_grad(x: Array, dy: Array, exponent: float) -> Array:
    """Return dy p x^(p - 1), the gradient of x^p for the base; where p is 0 it is dy 0 for any x."""
    p = np.longdouble(exponent)
    if not p:
        return np.asarray(dy * 0.0 * np.ones_like(x))
    power = _power(np.abs(x), p - 1, ends=(x == 0) | np.isinf(x))
    # Whether p - 1 is odd, or no integer, p says, from which 1 may be too little to be taken.
    signed = np.where(np.signbit(x) & (p % 2 == 0), -power, power)
    is_illegal = (p != np.floor(p)) & (x < 0) & np.isfinite(x)
    return _product(dy, p, np.where(is_illegal, np.nan, signed))


def scalar_exp_power_grad(x: Array, dy: Array, base: float) -> Array:
    """Return dy b^x log b, the gradient of b^x for the exponent; where b is 1 it is dy 0 for any x."""
    b = np.longdouble(base)
    return _product(dy, np.log(b), _power(b, x, ends=np.isinf(x)))


def _power(a: Array | np.longdouble, b: Array | np.longdouble, ends: Array) -> Array:
    """Return a^b in the long double: finite and not 0, and at the `ends` the same as C's pow."""
    info = np.finfo(np.longdouble)
    # Times 1: C libraries let 1^NaN be NaN where it is a signalling one, which multiplication makes quiet.
    power = np.power(np.asarray(a, np.longdouble) * 1, np.asarray(b, np.longdouble) * 1)
    inside = np.copysign(np.clip(np.abs(power), info.smallest_subnormal, info.max), power)
    return np.where(ends, power, inside)


def _product(dy: Array, factor: np.longdouble, power: Array) -> Array:
    """Return the product of three; the long double holds the product of the first two, float64 numbers."""
    return np.asarray(dy.astype(np.longdouble) * factor * power).astype(np.float64)
