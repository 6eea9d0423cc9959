"""The cases of Matmul: plans with element types and data."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import ep
from ep import TensorSpec
from ep_primitives.cases.case import Case
from ep_primitives.families.matmul.data import CONTENTS, random
from ep_primitives.families.matmul.descriptor import Matmul
from ep_primitives.families.matmul.plans import PLANS
from ep_primitives.judging.accuracy import REPRESENTABLE
from ep_primitives.judging.layout import settled
from ep_primitives.judging.reference import widened

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from ep_primitives.families.matmul.plans import Plan

__all__ = ["cases", "planned_case"]


def cases(dtype: str, out: str, layout: str) -> Iterator[Case]:
    """Yield the cases of a layout for element types of the inputs and the output."""
    kind = ep.dtype(dtype).kind
    for plan in PLANS[layout]():
        if kind in plan.kinds:
            yield planned_case(plan, dtype, out)


def planned_case(plan: Plan, dtype: str, out: str) -> Case:
    """Return the case of a plan for element types of the inputs and the output."""
    descriptor = Matmul(
        a=TensorSpec(dtype, *plan.a),
        b=TensorSpec(dtype, *plan.b),
        bias=None if plan.bias is None else TensorSpec(out, *plan.bias),
        out=TensorSpec(out, *plan.out),
        activation=plan.activation,
        conjugate_a="a" in plan.conjugates,
        conjugate_b="b" in plan.conjugates,
    )
    is_exact = plan.contents == "odd-integers"
    return Case(
        plan.name,
        descriptor,
        partial(_data, plan, descriptor),
        profile=plan.profile,
        shift=plan.shift * descriptor.out.itemsize,
        accuracy=REPRESENTABLE if is_exact else None,
        summands=plan.summands,
        fill="exact" if is_exact else "designed" if plan.contents else "random",
    )


def _data(plan: Plan, descriptor: Matmul, rng: np.random.Generator) -> dict[str, Any]:
    """Return the operands; the output's old contents only where they are read, or must not be."""
    tensors = {"a": descriptor.a, "b": descriptor.b}
    if descriptor.bias:
        tensors["bias"] = descriptor.bias
    if plan.beta or plan.contents == "unread-out":
        tensors["out"] = descriptor.out
    inputs: dict[str, Any] = {name: random(rng, spec.dtype, spec.shape) for name, spec in tensors.items()}
    if plan.contents:
        CONTENTS[plan.contents](rng, inputs)
    inputs = {name: settled(tensors[name], array) for name, array in inputs.items()}
    return inputs | {name: _number(descriptor.compute, getattr(plan, name)) for name in ("alpha", "beta")}


def _number(dtype: str, value: float) -> Any:
    """Return alpha or beta for an accumulation type: an integer of four times its size, or one that turns a product."""
    kind = ep.dtype(dtype).kind
    if value in {0.0, 1.0}:
        return widened(dtype, value).item()
    return int(4 * value) if kind == "i" else complex(value, 0.5) if kind == "c" else value
