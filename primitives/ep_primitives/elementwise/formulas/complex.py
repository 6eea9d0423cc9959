"""Functions of complex numbers, which `extended` gives in the long double."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ep_primitives.judging.reference import Array

__all__ = [
    "exp2",
    "expm1",
    "imag_grad",
    "log1p",
    "log2",
    "log10",
    "real_grad",
    "sigmoid",
    "sign",
]


def exp2(z: Array) -> Array:
    """Return e^(z log 2)."""
    return np.asarray(np.exp(z * _log_2()))


def log2(z: Array) -> Array:
    """Return the logarithm to base 2."""
    return _divided(np.log(z), _log_2())


def log10(z: Array) -> Array:
    """Return the logarithm to base 10."""
    return _divided(np.log(z), np.log(np.longdouble(10)))


def expm1(z: Array) -> Array:
    """Return e^z - 1.

    The real part is expm1(x) cos y - 2 sin^2(y / 2), the imaginary one e^x sin y.
    """
    half = np.sin(z.imag / 2)
    return _joined(np.expm1(z.real) * np.cos(z.imag) - 2 * half * half, np.exp(z.real) * np.sin(z.imag))


def log1p(z: Array) -> Array:
    """Return the logarithm of 1 + z.

    Where that is not near 0, its real part is 0.5 log1p(2x + x^2 + y^2).
    """
    x, y = z.real, z.imag
    near = np.hypot(1 + x, y)
    size = x * (2 + x) + y * y
    return _joined(np.where(near < 0.5, np.log(near), np.log1p(size) / 2), np.arctan2(y, 1 + x))  # noqa: PLR2004


def sigmoid(z: Array) -> Array:
    """Return 1 / (1 + e^-z).

    1 + e^-z = -expm1(-x) + 2 e^-x cos^2(y/2) - i e^-x sin y, which keeps its digits near the poles.
    """
    x, y = z.real, z.imag
    power = np.exp(-x)
    cosine = np.cos(y / 2)
    return np.asarray(1 / _joined(2 * power * cosine * cosine - np.expm1(-x), -power * np.sin(y)))


def sign(z: Array) -> Array:
    """Return z / |z|, and 0 where z is 0."""
    size = np.abs(z)
    return np.asarray(np.where(size == 0, z, z / np.where(size == 0, 1, size)))


def real_grad(x: Array) -> Array:
    """Return x + 0i: the gradient of the real part."""
    return _joined(x, np.zeros_like(x))


def imag_grad(x: Array) -> Array:
    """Return 0 + xi: the gradient of the imaginary part."""
    return _joined(np.zeros_like(x), x)


def _joined(real: Array, imag: Array) -> Array:
    joined: Array = np.empty(real.shape, np.result_type(real.dtype, np.complex64))
    joined.real, joined.imag = real, imag
    return joined


def _divided(z: Array, by: Any) -> Array:
    """Return z / by for a real `by`, part by part: dividing by a complex number makes a NaN of an infinite part."""
    return _joined(z.real / by, z.imag / by)


def _log_2() -> Any:
    return np.log(np.longdouble(2))
