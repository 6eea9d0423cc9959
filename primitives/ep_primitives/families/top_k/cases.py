"""The cases of TopK: plans with element types and data."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ep_primitives.cases.case import Case
from ep_primitives.families.top_k.data import CONTENTS
from ep_primitives.families.top_k.descriptor import TopK
from ep_primitives.families.top_k.plans import PLANS, Plan
from ep_primitives.judging.layout import settled
from ep_primitives.situations.along import along_form, along_shape
from ep_primitives.situations.extents import drawer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_primitives.situations.family import Row

__all__ = ["cases", "situated"]

_CHIEF: Final = {("largest", "float32"), ("smallest", "float16"), ("largest", "int8"), ("smallest", "uint64")}
"""The ops and element types that have every plan."""
_VALUED: Final = {"float32", "float16"}
"""Element types whose cases about values are quick."""
_FLOATING: Final = {"nan", "signed-zeros"}
"""Contents that floating element types alone have, each of them."""


def cases(op: str, dtype: str, layout: str) -> Iterator[Case]:
    """Yield the cases of a cell made by hand: every plan of the chief ones, the usual plans of the others.

    Profile quick keeps those about values, of few element types.
    """
    for plan in PLANS[layout]():
        content = CONTENTS[plan.contents]
        is_wanted = plan.is_usual or (op, dtype) in _CHIEF or plan.name in _FLOATING
        if is_wanted and dtype in content.dtypes and (dtype == "int8" or not plan.is_bytes):
            is_quick = (plan.contents != "random" or plan.name == "none-of-5") and dtype in _VALUED
            yield _case(op, dtype, plan) if is_quick else _case(op, dtype, plan).late()


def situated(op: str, dtype: str, layout: str, row: Row, seed: int) -> Case:
    """Return the case of a situation."""
    random, situation = drawer(f"{seed} {layout} {row.text}"), row.situation
    shape, axis = along_shape(layout, situation, random)
    extent = shape[axis] if shape else 1
    k = {"few": min(3, extent), "one": 1, "half": extent // 2, "all": extent}[situation.get("k", "few")]
    is_sorted = situation.get("sorted", "yes") == "yes"
    plan = Plan("", along_form(random, situation, "x", shape), k, axis, is_sorted)
    forms = {name: along_form(random, situation, name, plan.shape) for name in ("values", "indices")}
    return _case(op, dtype, replace(plan, forms=forms))


def _case(op: str, dtype: str, plan: Plan) -> Case:
    descriptor = TopK(op, **plan.specs(dtype), axis=plan.axis, sorted=plan.is_sorted)
    return Case(
        plan.name,
        descriptor,
        partial(_data, descriptor, plan.contents),
        profile=plan.profile,
        shift=plan.shift * 8,
        fill="random" if plan.contents == "random" else "designed",
    )


def _data(descriptor: TopK, contents: str, rng: np.random.Generator) -> dict[str, Any]:
    x, axis = descriptor.x, descriptor.axis
    lying = (*x.shape[:axis], *x.shape[axis + 1 :], descriptor.extent)
    number = x.size // descriptor.extent if descriptor.extent else 0
    rows = CONTENTS[contents].rows(rng, descriptor.op, x.dtype, (number, descriptor.extent)).reshape(lying)
    return {"x": settled(x, np.ascontiguousarray(np.moveaxis(rows, -1, axis)) if x.shape else rows.reshape(()))}
