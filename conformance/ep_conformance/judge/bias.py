"""The bias and the variance of sums: right rounding errs to both sides and cancels; truncation leans, and few bits err more.

After the limits on the sums of errors and of their squares in Arm's TOSA reference model (`verify_dot_product`), with the
standard deviation that rounding has by chance in place of its bound. A sum in sequence of n terms of one sign and like sizes has partial sums of
k/n S, whose roundings are off by at most u k/n S each, evenly to both sides: a variance of at most n/9 (u S)^2; sums in lanes
or pairs have less. u is 2^-(1 + fraction bits) of the type summed in, S the sum of |terms|. Of T errors over that deviation the mean
is within 6 / sqrt(T), and the mean of the squares within 1 + 2 sqrt(x / T) + 2 x / T, but for one case in e^x (Laurent and
Massart, Adaptive estimation of a quadratic functional by model selection, Annals of Statistics 28, 2000, lemma 1).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

import ep
from ep_conformance.judge.ulp import part_of, unit

if TYPE_CHECKING:
    from ep_primitives.judging.reference import Reference

__all__ = ["LEAST_OUTPUTS", "bias", "variance"]

LEAST_OUTPUTS: Final = 256
"""Of fewer outputs the limit says little."""

_SIGMAS: Final = 6.0
"""Chance exceeds so many standard deviations once in 5 10^8 cases."""

_EXPONENT: Final = 20.0
"""Chance exceeds the limit of the variance once in e^20 = 5 10^8 cases."""

Array = npt.NDArray[Any]


def bias(result: Array, reference: Reference, dtype: str, summands: int) -> float:
    """Return |mean e| over its limit 6 / sqrt(T); above 1 the sums lean to one side. `e` is that of `_errors`."""
    errors = _errors(result, reference, dtype, summands)
    return abs(float(errors.mean())) * math.sqrt(errors.size) / _SIGMAS


def variance(result: Array, reference: Reference, dtype: str, summands: int) -> float:
    """Return the mean of e^2 over its limit; above 1 the sums lose more than rounding to their type does.

    Factors, products or partial sums of fewer bits than the compute type has, or roundings that go up and down in turn, stay
    within the bound of each element and cancel in the mean.
    """
    errors = _errors(result, reference, dtype, summands)
    share = _EXPONENT / errors.size
    return float(np.square(errors).mean()) / (1 + 2 * math.sqrt(share) + 2 * share)


def _errors(result: Array, reference: Reference, dtype: str, summands: int) -> Array:
    """Return e of each output, of a complex one for each part.

    e = (result - value) / s with s^2 = n/9 (u S)^2 + w^2/12 and w the width of the last rounding, one ulp of the output, and of
    the reference's own error.

    Raises TypeError if the reference has no S, ValueError for fewer than 256 outputs.
    """
    if reference.scale is None:
        message = "bias: the reference of a case with summands needs the scale S = sum of |terms|"
        raise TypeError(message)
    if result.size < LEAST_OUTPUTS:
        message = f"bias: a case with summands has {result.size} outputs, needs at least {LEAST_OUTPUTS}"
        raise ValueError(message)
    form = ep.dtype(dtype)
    half = 2.0 ** -(1 + ep.dtype(form.compute).fraction)
    scale = np.broadcast_to(np.asarray(reference.scale, np.float64), result.shape)
    errors = []
    for got, value in zip(_parts(result, form.kind), _parts(reference.value, form.kind), strict=True):
        true = np.broadcast_to(value, result.shape)
        width = (1 + 2 * reference.error) * unit(np.abs(true), part_of(dtype))
        errors.append((got - true) / np.sqrt(summands / 9 * (half * scale) ** 2 + width**2 / 12))
    return np.asarray(errors)


def _parts(array: Array, kind: str) -> list[Array]:
    if kind == "c":
        return [np.asarray(array.real, np.float64), np.asarray(array.imag, np.float64)]
    return [np.asarray(array, np.float64)]
