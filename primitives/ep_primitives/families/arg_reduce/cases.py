"""The cases of ArgReduce: plans of shapes with random rows, then rows that show a fault of one kind."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ep import TensorSpec
from ep_primitives.cases.case import Case
from ep_primitives.families.arg_reduce.data import CONTENTS
from ep_primitives.families.arg_reduce.descriptor import ArgReduce
from ep_primitives.judging.layout import settled
from ep_primitives.reductions.data import folded, spread
from ep_primitives.reductions.plans import PLANS
from ep_primitives.reductions.situations import reduction_plan
from ep_primitives.situations.values import leaning

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from ep_primitives.cases.signature import Signature
    from ep_primitives.families.arg_reduce.data import Content
    from ep_primitives.reductions.plans import Plan
    from ep_primitives.situations.family import Row

__all__ = ["about_values", "cases", "situated"]

_CHIEF: Final = {("max", "float32"), ("min", "float64"), ("max", "int8"), ("min", "bool")}
"""The ops and element types that have every plan."""

_VALUED: Final = ("float32", "int64", "uint8")
"""Element types whose cases about values are quick."""


def cases(signature: Signature, layout: str) -> Iterator[Case]:
    """Yield the cases made by hand about layout: every plan of the chief signatures, the usual plans of the others."""
    (dtype,) = signature.inputs
    is_chief = (signature.op, dtype) in _CHIEF and signature.out == "int64"
    for plan in PLANS[layout]():
        is_wanted = is_chief and dtype == "int8" if plan.is_long else is_chief or plan.is_usual or layout == "empty"
        if is_wanted and _fits(plan):
            yield _planned(signature, plan).late()


def about_values(signature: Signature) -> Iterator[Case]:
    """Yield the cases about values, in profile quick of few element types."""
    (dtype,) = signature.inputs
    if signature.out == "int64":
        for content in CONTENTS:
            if dtype in content.dtypes:
                case = _filled(signature, content, axis=1)
                yield case if dtype in _VALUED else case.late()
                if dtype == "float32":
                    yield _filled(signature, content, axis=0).late()


def situated(signature: Signature, layout: str, row: Row, seed: int) -> Case:
    """Return the case of a situation."""
    plan = reduction_plan(layout, row, seed, is_single=True)
    return _planned(signature, plan, row.situation.get("values-x", "usual"))


def _fits(plan: Plan) -> bool:
    """Say whether a plan has one axis, or all of them, and places to find."""
    number, terms = plan.rows
    return len(plan.axes) in {1, len(plan.x.shape)} and (terms > 0 or number == 0)


def _planned(signature: Signature, plan: Plan, word: str = "usual") -> Case:
    x, out = plan.specs(signature.inputs[0], signature.out)
    axis = plan.axes[0] if len(plan.axes) == 1 else None
    descriptor = ArgReduce(signature.op, x=x, out=out, axis=axis)
    shift = plan.shift * max(x.itemsize, out.itemsize)
    return Case(plan.name, descriptor, partial(_random, descriptor, word), profile=plan.profile, shift=shift)


def _random(descriptor: ArgReduce, word: str, rng: np.random.Generator) -> dict[str, Any]:
    x = descriptor.x
    drawn = spread(x, descriptor.axes, descriptor.op, rng)
    return {"x": settled(x, leaning(rng, word, x.dtype, drawn))}


def _filled(signature: Signature, content: Content, axis: int) -> Case:
    """Return a case with one content: a matrix with its rows along an axis."""
    shape = content.shape if axis else content.shape[::-1]
    descriptor = ArgReduce.infer(signature.op, TensorSpec(signature.inputs[0], shape), axis, dtype=signature.out)
    name = content.name if axis else f"{content.name}-columns"
    return Case(name, descriptor, partial(_content, content, descriptor), profile=content.profile, fill="designed")


def _content(content: Content, descriptor: ArgReduce, rng: np.random.Generator) -> dict[str, Any]:
    rows = content.rows(rng, descriptor.op, descriptor.x.dtype, content.shape)
    return {"x": folded(rows, descriptor.x.shape, descriptor.axes)}
