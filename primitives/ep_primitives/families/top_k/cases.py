"""The cases of TopK: plans with element types and data."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ep_primitives.cases.case import Case
from ep_primitives.families.top_k.data import CONTENTS
from ep_primitives.families.top_k.descriptor import TopK
from ep_primitives.families.top_k.plans import PLANS
from ep_primitives.judging.layout import settled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_primitives.families.top_k.plans import Plan

__all__ = ["cases"]

_CHIEF: Final = {("largest", "float32"), ("smallest", "float16"), ("largest", "int8"), ("smallest", "uint64")}
"""The ops and element types that have every plan."""
_FLOATING: Final = {"nan", "signed-zeros"}
"""Contents that floating element types alone have, each of them."""


def cases(op: str, dtype: str, layout: str) -> Iterator[Case]:
    """Yield the cases of a cell: every plan of the chief ones, the usual plans of the others."""
    for plan in PLANS[layout]():
        content = CONTENTS[plan.contents]
        is_wanted = plan.is_usual or (op, dtype) in _CHIEF or plan.name in _FLOATING
        if is_wanted and dtype in content.dtypes and (dtype == "int8" or not plan.is_bytes):
            yield _case(op, dtype, plan)


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
