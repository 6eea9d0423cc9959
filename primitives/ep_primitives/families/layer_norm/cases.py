"""The cases of LayerNorm: plans with element types and data."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ep.dtypes import DTYPES

from ep_primitives.cases.case import Case
from ep_primitives.families.layer_norm.data import AFFINES, ROWS
from ep_primitives.families.layer_norm.descriptor import LayerNorm
from ep_primitives.families.layer_norm.plans import OUTPUTS, PLANS
from ep_primitives.families.layer_norm.situations import layer_norm_plan
from ep_primitives.judging.accuracy import LISTED, REPRESENTABLE
from ep_primitives.judging.layout import settled

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from ep_primitives.families.layer_norm.plans import Plan
    from ep_primitives.situations.family import Row

__all__ = ["cases", "situated"]


def cases(dtype: str, outputs: tuple[str, ...], layout: str) -> Iterator[Case]:
    """Yield the cases made by hand for an element type; outputs : the element types of those that are there.

    If the plans have no number of rows, because all rows are alike, the cases are for any number. Profile quick keeps those
    about values, and rows of nothing, of float32.
    """
    is_told = len(set(outputs)) > 1 or DTYPES[dtype].compute != dtype
    for plan in PLANS[layout]():
        if (not plan.dtypes or dtype in plan.dtypes) and (not is_told or len(plan.outputs) == len(outputs)):
            is_quick = dtype == "float32" and (plan.contents != ("random", "usual") or plan.name == "rows-of-none")
            yield _case(dtype, plan) if is_quick else _case(dtype, plan).late()


def situated(dtype: str, outputs: int, layout: str, row: Row, seed: int) -> Case:
    """Return the case of a situation for so many outputs."""
    return _case(dtype, layer_norm_plan(layout, row, seed, outputs))


def _case(dtype: str, plan: Plan) -> Case:
    compute = DTYPES[dtype].compute
    specs = plan.specs(dtype, compute)
    descriptor = LayerNorm(**specs, axis=plan.axis, epsilon=plan.epsilon)
    is_random = plan.contents == ("random", "usual")
    exact = LISTED if plan.contents[0] == "special" else REPRESENTABLE
    return Case(
        plan.name,
        descriptor,
        partial(_data, descriptor, plan.contents),
        inplace="x" if plan.inplace else None,
        profile=plan.profile,
        shift=plan.shift * DTYPES[compute if set(OUTPUTS[1:]) & set(specs) else dtype].itemsize,
        accuracy=exact if plan.exact else None,
        fill="exact" if plan.exact else "random" if is_random else "designed",
    )


def _data(descriptor: LayerNorm, contents: tuple[str, str], rng: np.random.Generator) -> dict[str, Any]:
    x, n = descriptor.x, descriptor.terms
    rows = ROWS[contents[0]](rng, x.dtype, x.size // n if n else 0, n)
    columns = dict(zip(("scale", "bias"), AFFINES[contents[1]](rng, x.dtype, n), strict=True))
    given = {"x": rows, **{name: column for name, column in columns.items() if name in descriptor.present}}
    present = descriptor.present
    return {name: settled(present[name], array.reshape(present[name].shape)) for name, array in given.items()}  # type: ignore[arg-type]
