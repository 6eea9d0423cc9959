"""The cases of Pool: plans with ops, element types and data."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_primitives.cases.case import Case
from ep_primitives.families.matmul.data import random
from ep_primitives.families.pool.plans import PLANS
from ep_primitives.judging.accuracy import REPRESENTABLE
from ep_primitives.judging.layout import settled
from ep_primitives.judging.reference import Array, array_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep import TensorSpec
    from ep_primitives.families.pool.plans import Plan

    Content = Callable[[np.random.Generator, TensorSpec], Array]

__all__ = ["cases", "planned_case"]

_CHIEF: Final = {
    ("max", "float32"),
    ("max", "int8"),
    ("average", "float32"),
    ("average", "bfloat16"),
    ("norm_1", "float16"),
    ("norm_2", "float64"),
}
"""The ops and element types that have every plan."""


def cases(op: str, dtype: str, layout: str) -> Iterator[Case]:
    """Yield the cases of a layout for an op and an element type: every plan of the chief ones, the usual plans of the others."""
    for plan in PLANS[layout]():
        is_wanted = plan.is_usual or (op, dtype) in _CHIEF
        if is_wanted and (not plan.ops or op in plan.ops.split()) and ep.dtype(dtype).kind in plan.kinds:
            yield planned_case(plan, op, dtype)


def planned_case(plan: Plan, op: str, dtype: str) -> Case:
    """Return the case of a plan for an op and an element type."""
    descriptor = plan.descriptor(op, dtype)
    return Case(
        plan.name,
        descriptor,
        partial(_data, plan.contents, descriptor.x),
        profile=plan.profile,
        shift=plan.shift * descriptor.x.itemsize,
        accuracy=REPRESENTABLE if plan.is_exact else None,
        summands=plan.summands,
        fill="exact" if plan.is_exact else "designed" if plan.contents else "random",
    )


def _data(contents: str, x: TensorSpec, rng: np.random.Generator) -> dict[str, Any]:
    return {"x": settled(x, _CONTENTS[contents](rng, x))}


def _random(rng: np.random.Generator, x: TensorSpec) -> Array:
    return random(rng, x.dtype, x.shape)


def _below_zero(rng: np.random.Generator, x: TensorSpec) -> Array:
    """Return numbers below any that a pad might be taken for: negative ones, in unsigned types the smaller half."""
    values = random(rng, x.dtype, x.shape)
    if values.dtype.kind == "u":
        return np.asarray(values // values.dtype.type(2))
    return np.asarray(-np.abs(values) if values.dtype.kind != "i" else np.minimum(values, ~values))


def _lowest(rng: np.random.Generator, x: TensorSpec) -> Array:
    """Return the lowest value there is everywhere but in a fourth of the places, where a little more stands."""
    kind = ep.dtype(x.dtype).kind
    low = -math.inf if kind == "f" else ep.dtype(x.dtype).range[0]
    values = np.full(x.shape, low).astype(array_dtype(x.dtype))
    values[rng.random(x.shape) < 0.25] = -1 if kind == "f" else low + 1  # noqa: PLR2004 - a fourth
    return values


def _integers(rng: np.random.Generator, x: TensorSpec) -> Array:
    """Return small integers, whose sums and means of eight are exact."""
    low = 0 if ep.dtype(x.dtype).kind == "u" else -7
    return rng.integers(low, 7, x.shape, endpoint=True).astype(array_dtype(x.dtype))


def _not_finite(rng: np.random.Generator, x: TensorSpec) -> Array:
    """Return random numbers, with a NaN, an infinity of either sign, or both, in four of five channels."""
    values = random(rng, x.dtype, x.shape)
    for place, image in enumerate(values.reshape(-1, *x.shape[2:])):
        flat = image.reshape(-1)
        given = ((math.nan,), (math.inf,), (-math.inf,), (math.inf, -math.inf), ())[place % 5]
        flat[rng.permutation(flat.size)[: len(given)]] = given
    return values


def _signed_zeros(rng: np.random.Generator, x: TensorSpec) -> Array:
    """Return zeros of either sign."""
    return np.asarray(np.copysign(0, rng.choice([-1.0, 1.0], x.shape, p=(0.8, 0.2))).astype(array_dtype(x.dtype)))


def _positive(rng: np.random.Generator, x: TensorSpec) -> Array:
    """Return numbers of one sign and like sizes, so that the rounding errors of a sum add up unless they are unbiased."""
    return rng.uniform(0.5, 2, x.shape).astype(array_dtype(x.dtype))


_CONTENTS: Final[Mapping[str, Content]] = {
    "": _random,
    "below-zero": _below_zero,
    "lowest": _lowest,
    "integers": _integers,
    "not-finite": _not_finite,
    "signed-zeros": _signed_zeros,
    "positive": _positive,
}
"""The contents of x, by name."""
