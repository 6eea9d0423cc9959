"""Compare a result with its reference by the accuracy that the row of the op promises."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from ep_primitives.judging.accuracy import Accuracy, Conditioned, Exact, Ulps

import ep
from ep_conformance.judge.ulp import complex_error, equals, format_of, part_of, rounded, ulp_error, unit

if TYPE_CHECKING:
    from ep_primitives.judging.reference import Reference

__all__ = ["Comparison", "allowance", "compare"]

_MOST_APART: Final = 3
"""Of more subnormal inputs than these not every choice is tried, because there are 3^n."""

Array = npt.NDArray[Any]
Inputs = Mapping[str, Any]


@dataclass(frozen=True)
class Comparison:
    """The verdict on one output: `ratio` is error over bound for each element, and at most 1 passes.

    error : the error of each element in ulps of the output, None where the accuracy is exact
    """

    ratio: Array
    error: Array | None

    @property
    def fails(self) -> npt.NDArray[np.bool_]:
        """True for each element outside its bound; a NaN ratio is outside."""
        return np.asarray(~(self.ratio <= 1))

    @property
    def passes(self) -> bool:
        """True if every element is inside its bound."""
        return not self.fails.any()

    @property
    def margin(self) -> float | None:
        """The largest error over its bound, None where the accuracy is exact; infinite where no result would pass."""
        if self.error is None:
            return None
        ratio = np.where(np.isnan(self.ratio), np.inf, self.ratio)
        return float(ratio.max()) if ratio.size else 0.0

    @property
    def worst_error(self) -> float | None:
        """The error in ulps of the element furthest outside its bound, None where the accuracy is exact."""
        return float(abs(self.error[self.worst])) if self.error is not None and self.error.size else None

    @property
    def worst(self) -> tuple[int, ...]:
        """The index of the element furthest outside its bound."""
        ratio = np.where(np.isnan(self.ratio), np.inf, self.ratio)
        return tuple(int(i) for i in np.unravel_index(int(ratio.argmax()), ratio.shape))


def compare(  # noqa: PLR0913 - both sides, their measure, and what a flushing device may do
    result: Array,
    reference: Reference,
    accuracy: Accuracy,
    dtype: str,
    *,
    flushes: bool = False,
    is_elementwise: bool = True,
    inputs: Inputs | None = None,
    recompute: Callable[[Inputs], Reference] | None = None,
) -> Comparison:
    """Return how far each element of `result` is from `reference`, measured by its accuracy.

    result    : shape dtype, as the device wrote it
    flushes   : True if the device declares that subnormals of this type become zero
    inputs    : the operands and `recompute` the reference of other operands; both only for devices that flush
    is_elementwise : True if an element of the result is made of one element of each operand

    Flushing is considered only for elements that fail without it.
    """
    comparison = _measure(result, reference, accuracy, dtype)
    if not flushes or comparison.passes:
        return comparison
    ratio = np.where(_flushed(result, reference, accuracy, dtype), 0.0, comparison.ratio)
    for reach, changed in _flushed_inputs(inputs or {}, result.shape, is_elementwise=is_elementwise):
        if recompute is None or (ratio <= 1).all():
            break
        other = recompute(changed)
        again = _measure(result, other, accuracy, dtype).ratio
        again = np.where(_flushed(result, other, accuracy, dtype), 0.0, again)
        ratio = np.where(reach & ~(ratio <= again), again, ratio)
    return Comparison(ratio, comparison.error)


def _measure(result: Array, reference: Reference, accuracy: Accuracy, dtype: str) -> Comparison:
    value = np.broadcast_to(reference.value, result.shape)
    kind = ep.dtype(dtype).kind
    if kind not in "fc":
        return Comparison(_exact(result == value), None)
    if isinstance(accuracy, Exact):
        return Comparison(_exact(equals(result, rounded(value, dtype))), None)
    error = (complex_error if kind == "c" else ulp_error)(result, value, dtype)
    allowed = _allowed(reference, accuracy, dtype, value)
    with np.errstate(all="ignore"):
        ratio = np.abs(error) / allowed
        if np.isinf(allowed).any():  # beside 0 a sum's bound may be more ulps than there are numbers for
            apart = np.abs(result - value) / _absolute(reference, accuracy, dtype, value.shape)
            ratio = np.where(np.isinf(allowed), apart, ratio)
    return Comparison(np.where(error == 0, 0.0, ratio), error)


def allowance(
    reference: Reference, accuracy: Accuracy, dtype: str, shape: tuple[int, ...], at: tuple[int, ...]
) -> float:
    """Return by how much an element may differ from its reference, absolutely; of an accuracy that is not exact."""
    value = np.broadcast_to(reference.value, shape)
    step = unit(np.asarray(np.abs(value[at]), np.float64), part_of(dtype))
    with np.errstate(all="ignore"):
        return float(_allowed(reference, accuracy, dtype, value)[at] * step)


def _exact(same: npt.NDArray[np.bool_]) -> Array:
    """Return ratios for exact results: 0, or outside any bound. As bytes, because outputs may have 2^31 elements."""
    return np.where(same, np.uint8(0), np.uint8(255))


def _allowed(reference: Reference, accuracy: Accuracy, dtype: str, value: Array) -> Array:
    """Return the allowed error of each element in ulps of the output, the reference's own error included."""
    with np.errstate(all="ignore"):
        step = unit(np.asarray(np.abs(value), np.float64), part_of(dtype))
        absolute = _absolute(reference, accuracy, dtype, value.shape)
        if isinstance(accuracy, Ulps):
            return np.maximum(accuracy.n + reference.error, absolute / step)
        return np.asarray(absolute / step + 0.5 + reference.error)


def _absolute(reference: Reference, accuracy: Accuracy, dtype: str, shape: tuple[int, ...]) -> Array:
    """Return the part of the allowed error that does not depend on the size of the result: a floor, or k eps S."""
    if isinstance(accuracy, Ulps):
        return np.broadcast_to(accuracy.floor, shape)
    if not isinstance(accuracy, Conditioned) or reference.scale is None:
        message = f"compare: {accuracy} needs a reference with the scale S = sum of |terms|"
        raise TypeError(message)
    # Of a complex type these are the bits of one part.
    eps = 2.0 ** -ep.dtype(ep.dtype(dtype).compute).fraction
    scale = np.broadcast_to(reference.scale, shape)
    # A scale that overflowed gives no bound; then only the half ulp of the output remains.
    return np.asarray(accuracy.k * eps * np.where(np.isfinite(scale), scale, 0.0))


def _flushed(result: Array, reference: Reference, accuracy: Accuracy, dtype: str) -> npt.NDArray[np.bool_]:
    """Say where a zero may stand for a subnormal result: rule (a) of flush to zero."""
    if not ep.dtype(dtype).is_floating:
        return np.zeros(result.shape, np.bool_)
    form = format_of(dtype)
    value = np.broadcast_to(np.asarray(reference.value, np.float64), result.shape)
    bound = 0.5 if isinstance(accuracy, Exact) else _allowed(reference, accuracy, dtype, value)
    with np.errstate(all="ignore"):
        return np.asarray((result == 0) & (np.abs(value) - bound * form.smallest_subnormal < form.smallest_normal))


def _flushed_inputs(
    inputs: Inputs, shape: tuple[int, ...], *, is_elementwise: bool
) -> Iterator[tuple[npt.NDArray[np.bool_], Inputs]]:
    """Yield where it applies, and the inputs with subnormals replaced by zeros: rule (b) of flush to zero.

    With two subnormal inputs the first is replaced alone, then both by each pair of signs; never the second alone. Of many
    inputs all are replaced at once. Where an element is made of many, the replaced inputs apply everywhere.
    """
    subnormal = {name: _is_subnormal(value) for name, value in inputs.items()}
    names = [name for name, where in subnormal.items() if where.any()]
    each = itertools.product((None, 0.0, -0.0), repeat=len(names))
    for signs in each if len(names) <= _MOST_APART else ((0.0,) * len(names), (-0.0,) * len(names)):
        chosen = dict(zip(names, signs, strict=True))
        if all(sign is None for sign in signs):
            continue
        reach = np.ones(shape, np.bool_)
        for place, (name, sign) in enumerate(chosen.items() if is_elementwise else ()):
            if sign is not None:
                reach &= np.broadcast_to(subnormal[name], shape)
            elif any(later is not None for later in signs[place + 1 :]):
                reach &= ~np.broadcast_to(subnormal[name], shape)
        changed = dict(inputs)
        for name, sign in chosen.items():
            if sign is not None:
                value = np.asarray(inputs[name])
                changed[name] = np.where(subnormal[name], value.dtype.type(sign), value)
        yield reach, changed


def _is_subnormal(value: Any) -> npt.NDArray[np.bool_]:
    array = np.asarray(value)
    if array.dtype.name not in ep.dtypes.DTYPES or not ep.dtype(array.dtype.name).is_floating:
        return np.zeros(array.shape, np.bool_)
    return np.asarray((array != 0) & (np.abs(array) < format_of(array.dtype.name).smallest_normal))
