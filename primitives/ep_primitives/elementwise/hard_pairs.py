"""Pairs of operands that independent values hardly ever form, and on which an op goes wrong if it goes wrong at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

import ep
from ep_primitives.cases import data
from ep_primitives.elementwise import pairing
from ep_primitives.judging.reference import Array, array_dtype, limits, widened

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_primitives.elementwise.op import Op

__all__ = [
    "HARD_PAIRS",
    "LOGICAL",
    "SELECTIONS",
    "SHIFTS",
    "cancelling",
    "count",
    "counts",
    "large_gradients",
    "multiples",
    "selected",
    "shifts",
    "switches",
    "tolerances",
]

Pair = tuple[Array, Array]
_COUNT: Final = 400
_SPREAD: Final = 1000.0
_DIVISORS: Final = (5, 7, 9, 11, 13, 15, 21, 27)


def multiples(dtype: str) -> Pair:
    """Return pairs (a, b) with a next to a multiple of b; for floats a quotient next to half-way between two numbers.

    There a rounded quotient is an integer that the exact one is not, or the other side of a tie.
    """
    rng = np.random.default_rng(3)
    if ep.dtype(dtype).kind != "f":
        low, high = ep.dtype(dtype).range
        b = np.array([n for n in range(max(low, -9), 10) for _ in range(60)], array_dtype(dtype))
        near = rng.integers(low, high, b.size, dtype=array_dtype(dtype), endpoint=True)
        with np.errstate(all="ignore"):
            near -= np.where(b == 0, 0, np.remainder(near, np.where(b == 0, 1, b))).astype(near.dtype)
        return _around(near, b)
    b = rng.uniform(-8, 8, _COUNT).astype(array_dtype(dtype))
    with np.errstate(over="ignore"):
        near = (b.astype(np.float64) * np.rint(rng.uniform(-_SPREAD, _SPREAD, _COUNT))).astype(b.dtype)
    a, b = _around(near, b)
    tied, by = _ties(dtype)
    return np.concatenate([a, tied, -tied]), np.concatenate([b, by, by])


def tolerances(dtype: str, atol: float, rtol: float) -> Pair:
    """Return pairs (a, b) with |a - b| next to atol + rtol |b|, on both sides of b."""
    rng = np.random.default_rng(4)
    into = array_dtype(dtype)
    if ep.dtype(dtype).kind == "f":
        b = rng.uniform(-8, 8, _COUNT).astype(into)
        low, high = -_SPREAD, _SPREAD
    else:
        low, high = (float(end) for end in ep.dtype(dtype).range)
        b = rng.uniform(max(low, -_SPREAD), min(high, _SPREAD), _COUNT).astype(into)
    wide = b.astype(np.float64)
    reach = atol + rtol * np.abs(wide)
    sides = [
        _around(np.clip(np.rint(end) if into.kind in "iu" else end, low, high).astype(into), b)
        for end in (wide - reach, wide + reach)
    ]
    return np.concatenate([a for a, _ in sides]), np.concatenate([b for _, b in sides])


def shifts(dtype: str) -> Pair:
    """Return pairs (a, b) with every count of bits and those next to them, and counts of which the low bits are such a one."""
    bits = 8 * ep.dtype(dtype).itemsize
    low, high = ep.dtype(dtype).range
    wanted = [*range(-3, bits + 3), -bits, -bits - 1, 2 * bits, 2 * bits + 1, 256, 257, 2**16 + 1, 2**32 + 1, low, high]
    b = np.array([each for each in dict.fromkeys(wanted) if low <= each <= high], array_dtype(dtype))
    a = data.designed(dtype)
    return np.repeat(a, b.size), np.tile(b, a.size)


def cancelling(dtype: str) -> Pair:
    """Return pairs (a, b) with e^a + e^b near 1; next to 1, its logarithm comes from the roundings of a and b alone."""
    rng = np.random.default_rng(5)
    b = rng.uniform(-8, -0.01, _COUNT)
    apart = np.where(np.arange(_COUNT) % 4 == 0, 2.0 ** -rng.uniform(1, 8, _COUNT), 0.0)
    near = (np.log(-np.expm1(b)) * (1 + apart)).astype(array_dtype(dtype))
    a, b = _around(near, b.astype(near.dtype))
    return np.concatenate([a, b]), np.concatenate([b, a])


def large_gradients(dtype: str, *_: float) -> Pair:
    """Return pairs (dy, x) with a dy near the largest number, and a slope at x that is normal, and below 1.1 unless an alpha makes it steeper.

    The product of dy and the slope is finite then, but that of dy and a part of the slope is not.
    """
    rng = np.random.default_rng(6)
    dy = float(limits(dtype).max) * rng.uniform(0.3, 0.8, _COUNT) * rng.choice((-1.0, 1.0), _COUNT)
    x = np.concatenate([rng.uniform(-16, -1, _COUNT - _COUNT // 4), rng.uniform(-1, 1, _COUNT // 4)])
    return dy.astype(array_dtype(dtype)), x.astype(array_dtype(dtype))


def counts(rng: np.random.Generator, values: Array) -> Array:
    """Return `values` with seven of eight in the place of counts of bits, all of them that the type has."""
    inside = rng.integers(0, 8 * values.itemsize, values.shape).astype(values.dtype)
    return np.where(rng.permutation(np.arange(values.size)).reshape(values.shape) % 8 == 0, values, inside)


def count(rng: np.random.Generator, dtype: str) -> int:
    """Return a count of bits that is more than none and less than half of the type's."""
    return int(rng.integers(1, 4 * ep.dtype(dtype).itemsize))


def switches(rng: np.random.Generator, values: Array, first: Array | None) -> Array:
    """Return `values` with half of them 0: every second one beside a `first` that is 0, and beside one that is not."""
    pattern = data.random(rng, "bool", values.shape)
    if first is not None:
        pattern = pairing.partner(rng, np.asarray(first != 0), pattern)
    one, zero = np.ones_like(values), np.zeros_like(values)
    return np.where(pattern, np.where(values == 0, one, values), zero)


def selected(rng: np.random.Generator, op: Op, dtype: str, values: Array, attributes: tuple[float, ...]) -> Array:
    """Return values of x or y with a quarter from where the slope of a selection is 0, and another from where it is not."""
    candidates = data.designed(dtype)
    held = op.held(dtype, attributes)
    with np.errstate(all="ignore"):
        result = op.reference(np.ones(candidates.shape), widened(dtype, candidates), *held)
    is_zero = (result[0] if isinstance(result, tuple) else result) == 0
    return pairing.balanced(rng, values, (candidates[is_zero], candidates[~is_zero]))


def _around(near: Array, b: Array) -> Pair:
    """Return each number with the next below and above it, beside the same b; integers wrap."""
    with np.errstate(all="ignore"):
        if near.dtype.kind in "iu":
            one = near.dtype.type(1)
            trio = [near, near - one, near + one]
        else:
            trio = [near, *(np.nextafter(near, near.dtype.type(end)) for end in (-np.inf, np.inf))]
    return np.concatenate(trio), np.concatenate([b] * len(trio))


def _ties(dtype: str) -> Pair:
    """Return a, b > 0 with a quotient that is an odd integer of one bit more than the type's, and a fraction."""
    digits = ep.dtype(dtype).fraction + 1
    pairs = [
        (n * by + left, by)
        for n in range(2**digits + 1, 2**digits + 41, 2)
        for by in _DIVISORS
        for left in range(1, by)
        if (n * by + left) % 2 ** max((n * by + left).bit_length() - digits, 0) == 0
    ]
    a, b = (np.array([float(pair[side]) for pair in pairs]) for side in (0, 1))
    return a.astype(array_dtype(dtype)), b.astype(array_dtype(dtype))


_EXPONENTIAL: Final = ("elu", "selu", "mish", "silu", "gelu", "fast_gelu", "quick_gelu", "soft_plus")
"""Activations with a slope that falls as an exponential."""

HARD_PAIRS: Final[dict[str, Callable[..., Pair]]] = {
    **dict.fromkeys(("fmod", "floor_div", "trunc_div", "floor_mod"), multiples),
    **dict.fromkeys(("is_close", "is_close_equal_nan"), tolerances),
    **dict.fromkeys(("shift_left", "shift_right"), shifts),
    "logaddexp": cancelling,
    **{f"{name}_backward_with_dy_x": large_gradients for name in _EXPONENTIAL},
}
"""By op: from the element type and the attributes to the operands."""

LOGICAL: Final = frozenset(("logical_and", "logical_or", "logical_xor"))
"""Ops that ask of their operands only whether they are 0."""

SHIFTS: Final = frozenset(("shift_left", "shift_right"))
"""Ops whose second operand counts bits."""

SELECTIONS: Final = frozenset(
    f"{name}_backward_with_dy_{operand}"
    for name, operand in (
        ("relu", "y"),
        ("relu", "x"),
        ("hard_swish", "x"),
        ("hard_sigmoid", "x"),
        ("hard_shrink", "y"),
        ("hard_tanh", "y"),
        ("soft_shrink", "y"),
        ("threshold", "x"),
        ("square_relu", "x"),
    )
)
"""Gradients that are 0 on a part of the line."""
