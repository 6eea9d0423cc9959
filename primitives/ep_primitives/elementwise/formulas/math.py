"""The functions of one number that are more than a NumPy function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_primitives.judging.reference import Array

__all__ = [
    "accurate",
    "bell",
    "digamma",
    "erf",
    "erfc",
    "lgamma",
    "log_sigmoid",
    "reciprocal",
    "reciprocal_no_nan",
    "rsqrt",
    "sigmoid",
    "sign",
    "tan",
    "trigamma",
]

# The asymptotic series of trigamma, NIST DLMF 5.15.8: the Bernoulli numbers B2 ... B16. Above 8.5 the rest is below
# 2^-53 of the sum.
_BERNOULLI: Final = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_STEPS: Final = 8
# Veltkamp's splitter: it leaves 26 bits, whose squares are exact.
_SPLITTER: Final = 2.0**27 + 1
_TAIL: Final = 0.5
_TINY: Final = 2.0**-60
_HUGE: Final = 1e300  # Stirling's other terms are below 10^-300 of the first
_ROOT: Final = 2.0**-20


def erf(x: Array) -> Array:
    """Return the error function."""
    from scipy.special import erf as function  # noqa: PLC0415 - scipy belongs to the extra `conformance`

    return np.asarray(function(x))


def bell(x: Array, scale: float = 1.0) -> Array:
    """Return e^(-scale x^2) for a scale that is a power of two, with x^2 split so that its rounding is not amplified."""
    high = x * _SPLITTER
    high = high - (high - x)
    return np.asarray(np.exp(-scale * high * high) * np.exp(scale * (high - x) * (high + x)))


def erfc(x: Array) -> Array:
    """Return 1 - erf(x); beyond 0.5 as e^(-x^2) erfcx(x)."""
    from scipy.special import erfc as function  # noqa: PLC0415 - scipy belongs to the extra `conformance`
    from scipy.special import erfcx  # noqa: PLC0415 - as above

    size = np.clip(x, _TAIL, 30)
    tail = bell(size) * erfcx(size)
    return np.where(x > _TAIL, np.where(x == math.inf, 0.0, tail), function(np.minimum(x, _TAIL)))


def lgamma(x: Array) -> tuple[Array, Array]:
    """Return log |Gamma(x)| and S = 1 + |log |Gamma(x)||, below 0 of the terms of its reflection.

    These are log pi, log |x sin pi x| and log Gamma(-x).
    """
    from scipy.special import gammaln  # noqa: PLC0415 - scipy belongs to the extra `conformance`

    value = np.where(x == -math.inf, math.inf, gammaln(x))
    value = np.where(np.abs(x) < _TINY, -np.log(np.abs(x)), value)  # SciPy's overflows there, and before its time here:
    value = np.where((x > _HUGE) & (x < math.inf), x * (np.log(x) - 1), value)
    scale = np.asarray(1 + np.abs(value))
    is_negative = x < 0
    if is_negative.any():
        size = np.abs(x[is_negative])
        sine = np.sin(math.pi * np.abs(size - np.rint(size)))
        scale[is_negative] += np.abs(np.log(size)) + np.abs(np.log(sine)) + np.abs(gammaln(size))
    return value, scale


def digamma(x: Array) -> tuple[Array, Array]:
    """Return the derivative of log Gamma, below 0 as psi(1 - x) - pi cot(pi x), and S = 1 + |psi(x)|.

    Below 0 S has 2 log(1 + |x|) more, so that it is no less than the terms of the reflection.
    """
    from scipy.special import psi  # noqa: PLC0415 - scipy belongs to the extra `conformance`

    fraction = np.where(x < 0, x - np.rint(x), 1.0)
    reflected = np.where(fraction == 0, math.nan, math.pi / np.tan(math.pi * fraction))
    value = psi(np.where(x < 0, 1 - x, x)) - np.where(x < 0, reflected, 0.0)
    return value, 1 + np.abs(value) + 2 * np.log1p(np.maximum(-x, 0))


def accurate(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return sine or cosine such that values next to a root are right, too.

    NumPy's vectorised ones lose up to 17 bits there; the long double's do not.
    """

    def evaluate(x: Array) -> Array:
        value = np.asarray(function(x))
        is_near = (np.abs(value) < _ROOT) & (np.abs(x) > 1)
        if is_near.any():
            value[is_near] = function(x[is_near].astype(np.longdouble))
        return value

    return evaluate


def trigamma(x: Array) -> Array:
    """Return the derivative of digamma: the sum of 1 / (x + k)^2 for k >= 0, below 0.5 by reflection."""
    is_low = x < 0.5  # noqa: PLR2004 - where reflection leaves nothing that cancels
    start = np.where(is_low, 1 - x, x)
    total = np.zeros_like(start)
    for step in range(_STEPS):
        total += 1 / np.square(start + step)
    inverse = 1 / (start + _STEPS)
    square = inverse * inverse
    series = np.zeros_like(start)
    for number in reversed(_BERNOULLI):
        series = (series + number) * square
    total += inverse * (1 + inverse / 2 + series)
    if not is_low.any():
        return total
    sine = np.sin(math.pi * (x - np.rint(x)))
    return np.where(is_low, np.square(math.pi / sine) - total, total)


def log_sigmoid(x: Array) -> Array:
    """Return -log(1 + e^-x) = min(x, 0) - log1p(e^-|x|)."""
    return -(np.log1p(np.exp(-np.abs(x))) - np.minimum(x, 0))


def reciprocal(x: Array) -> Array:
    """Return 1 / x."""
    return np.asarray(1 / x)


def reciprocal_no_nan(x: Array) -> Array:
    """Return 1 / x, and 0 where x is 0."""
    return np.where(x == 0, 0, 1 / np.where(x == 0, 1, x))


def rsqrt(x: Array) -> Array:
    """Return 1 / sqrt(x)."""
    return np.asarray(1 / np.sqrt(x))


def sigmoid(x: Array) -> Array:
    """Return 1 / (1 + e^-x), as e^x / (1 + e^x) below 0."""
    tail = np.exp(-np.abs(x))
    return np.asarray(np.where(x < 0, tail, 1.0) / (1 + tail))


def sign(x: Array) -> Array:
    """Return -1, 0 or 1, with a zero's sign and a NaN kept."""
    return np.where(x == 0, x, np.sign(x))


def tan(x: Array) -> Array:
    """Return the tangent by the long double: C libraries lose digits beside its roots, where x is a large multiple of pi.

    glibc 2.36 is 100,178 ulp off at 0x1.4c96c11134d36p+577; NumPy has its own function only where there is AVX-512.
    """
    return np.asarray(np.tan(x.astype(np.longdouble)).astype(np.float64))
