"""The references of Reduce and ArgReduce, in a wider type than the result, and how far a right result may be from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_primitives.families.reduce.rows import REDUCE_OPS
from ep_primitives.judging.accuracy import Accuracy, Conditioned
from ep_primitives.judging.reference import LONG_EPS, Array, Reference, widened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_primitives.families.arg_reduce.descriptor import ArgReduce
    from ep_primitives.families.reduce.descriptor import Reduce
    from ep_primitives.reductions.dimensions import Reduction

__all__ = ["accuracy", "places", "reference"]

_LONG: Final[Mapping[str, Any]] = {"float64": np.longdouble, "complex128": np.clongdouble}

Sum = tuple[Array, Array]
"""A value and S, the sum of the |terms| that it is made of."""


def accuracy(descriptor: Reduce) -> Accuracy:
    """Return the bound of the row for the number of terms."""
    return REDUCE_OPS[descriptor.op].accuracy_of(descriptor.x.dtype, descriptor.out.dtype, descriptor.terms)


def reference(descriptor: Reduce, inputs: Mapping[str, Any]) -> Reference:
    """Return the op over each row of x as stored, and S: in float64 up to float32, in the long double for float64."""
    x, out = descriptor.x.dtype, descriptor.out
    rows = _rows(descriptor, widened(x, inputs["x"]))
    if ep.dtype(out.dtype).kind not in "fc":
        return Reference(_whole(descriptor, rows).reshape(out.shape))
    long = _LONG.get(x) or _LONG.get(out.dtype)
    rows = rows if long is None else rows.astype(long)
    with np.errstate(all="ignore"):
        value, scale = _SUMS[descriptor.op](rows, descriptor)
        if long is None:
            return Reference(value.reshape(out.shape), scale.reshape(out.shape))
        value = value.astype(np.complex128 if np.iscomplexobj(value) else np.float64)
        scale = (scale * (1 + LONG_EPS)).astype(np.float64)
    return Reference(value.reshape(out.shape), scale.reshape(out.shape), 0.5)


def places(descriptor: ArgReduce, inputs: Mapping[str, Any]) -> Reference:
    """Return the place of the first extreme element, or of the first NaN, in each row of x."""
    rows = _rows(descriptor, widened(descriptor.x.dtype, inputs["x"]))
    find = np.argmax if descriptor.op == "max" else np.argmin
    value = find(rows, axis=-1) if rows.size else np.zeros(rows.shape[:-1], np.int64)
    return Reference(value.astype(descriptor.out.dtype).reshape(descriptor.out.shape))


def _rows(descriptor: Reduction, x: Array) -> Array:
    """Return x with the elements of each row in one last dimension, contiguous, so that NumPy sums them pairwise."""
    axes = descriptor.axes
    moved = np.moveaxis(x, axes, range(x.ndim - len(axes), x.ndim))
    return np.ascontiguousarray(moved.reshape(*moved.shape[: x.ndim - len(axes)], descriptor.terms))


def _whole(descriptor: Reduce, rows: Array) -> Array:
    """Return the exact result of an op on integers or bools, or of a test."""
    out = np.dtype(descriptor.out.dtype)
    match descriptor.op:
        case "any":
            return np.asarray((rows != 0).any(-1))
        case "all":
            return np.asarray((rows != 0).all(-1))
        case "sum":
            return np.asarray(rows.sum(-1, dtype=out))
        case "prod":
            return np.asarray(rows.prod(-1, dtype=out))
    find: Any = np.max if descriptor.op == "max" else np.min
    return np.asarray(find(rows, axis=-1, initial=out.type(REDUCE_OPS[descriptor.op].identity_of(out.name))))


def _sum(rows: Array, _: Reduce) -> Sum:
    return rows.sum(-1), np.abs(rows).sum(-1)


def _mean(rows: Array, descriptor: Reduce) -> Sum:
    count = rows.real.dtype.type(descriptor.terms)
    return rows.sum(-1) / count, np.abs(rows).sum(-1) / count


def _prod(rows: Array, _: Reduce) -> Sum:
    value = rows.prod(-1)
    return value, np.abs(value)


def _max(rows: Array, _: Reduce) -> Sum:
    return _positive_zeros(rows.max(-1, initial=-np.inf), rows)


def _min(rows: Array, _: Reduce) -> Sum:
    value, scale = _positive_zeros((-rows).max(-1, initial=-np.inf), -rows)
    return -value, scale


def _positive_zeros(value: Array, rows: Array) -> Sum:
    """Return the maximum of rows, +0 where it is a zero and one of the row's zeros is +0."""
    has_positive = ((rows == 0) & ~np.signbit(rows)).any(-1)
    zero = np.where(has_positive, 0.0, -0.0)
    return np.where(value == 0, zero, value), np.abs(value)


def _squares(rows: Array, _: Reduce) -> Sum:
    value = (rows.real**2 + rows.imag**2 if np.iscomplexobj(rows) else rows**2).sum(-1)
    return value, value


def _norm_1(rows: Array, _: Reduce) -> Sum:
    value = np.abs(rows).sum(-1)
    return value, value


def _norm_2(rows: Array, _: Reduce) -> Sum:
    """Return the root of the sum of squares of the row divided by a power of two near its largest element."""
    sizes = np.abs(rows)
    exponent = np.frexp(sizes.max(-1, initial=0.0))[1]
    value = np.ldexp(np.sqrt((np.ldexp(sizes, -exponent[..., None]) ** 2).sum(-1)), exponent)
    return value, value


def _norm_inf(rows: Array, _: Reduce) -> Sum:
    value = np.abs(rows).max(-1, initial=0.0)
    return value, value


def _log_sum_exp(rows: Array, descriptor: Reduce) -> Sum:
    top = rows.max(-1, initial=-np.inf)
    shift = np.where(np.isfinite(top), top, 0)
    log = np.log(np.exp(rows - shift[..., None]).sum(-1))
    bound = accuracy(descriptor)
    assert isinstance(bound, Conditioned)
    return shift + log, 1 + (np.abs(shift) + 2 * np.abs(log)) / (bound.k or 1)


_SUMS: Final[Mapping[str, Callable[[Array, Reduce], Sum]]] = {
    "sum": _sum,
    "prod": _prod,
    "mean": _mean,
    "max": _max,
    "min": _min,
    "sum_of_squares": _squares,
    "norm_1": _norm_1,
    "norm_2": _norm_2,
    "norm_inf": _norm_inf,
    "log_sum_exp": _log_sum_exp,
}
"""By name, the value and S of an op with a floating output, from rows in the last dimension."""
