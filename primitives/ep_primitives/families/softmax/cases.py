"""The cases of the softmaxes: plans with element types and data."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ep import TensorSpec
from ep_primitives.cases.arrangement import Form
from ep_primitives.cases.case import Case
from ep_primitives.families.softmax.data import GRADIENTS, ROWS
from ep_primitives.families.softmax.plans import PLANS
from ep_primitives.families.softmax.specials import special_inputs
from ep_primitives.judging.accuracy import LISTED, REPRESENTABLE
from ep_primitives.judging.layout import settled
from ep_primitives.situations.along import along_plan
from ep_primitives.situations.values import leaning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_primitives.cases.along import Plan
    from ep_primitives.descriptors.axis_descriptor import AxisDescriptor
    from ep_primitives.situations.family import Row

__all__ = ["cases", "situated"]


def cases(kind: type[AxisDescriptor], dtype: str, layout: str) -> Iterator[Case]:
    """Yield the cases made by hand for a family's descriptor and an element type; quick are those about values, of float32."""
    for plan in PLANS[layout](len(kind.roles.read)):
        if not plan.dtypes or dtype in plan.dtypes:
            case = _special(kind, dtype, plan) if plan.contents == "special-rows" else _case(kind, dtype, plan)
            is_quick = layout == "dense" and plan.contents != "random" and plan.axis == -1 and dtype == "float32"
            yield case if is_quick else case.late()


def situated(kind: type[AxisDescriptor], dtype: str, layout: str, row: Row, seed: int) -> Case:
    """Return the case of a situation; gradients that are one number along a row meet any y, with which they do not cancel."""
    names = kind.roles.read
    is_constant = row.situation.get(f"form-{names[0]}", "").startswith("zero")
    contents = "any-y" if is_constant and len(names) > 1 else "random"
    case = _case(kind, dtype, along_plan(layout, names, row, seed, contents))
    word = row.situation.get("values-x", "usual")
    return case if word == "usual" else replace(case, data=partial(_leaning, case, word))


def _leaning(case: Case, word: str, rng: np.random.Generator) -> dict[str, Any]:
    """Return x with a third of its elements of a class."""
    x = case.descriptor.specs[0]
    assert isinstance(x, TensorSpec)
    return {"x": settled(x, leaning(rng, word, x.dtype, case.data(rng)["x"]))}


def _case(kind: Any, dtype: str, plan: Plan) -> Case:
    specs = [TensorSpec(dtype, *form) for form in plan.forms]
    descriptor: AxisDescriptor = kind(**dict(zip(kind.roles.names, specs, strict=True)), axis=plan.axis)
    return Case(
        plan.name,
        descriptor,
        partial(_data, descriptor, plan.contents),
        inplace=None if plan.inplace is None else kind.roles.names[plan.inplace],
        profile=plan.profile,
        shift=plan.shift * descriptor.out.itemsize,
        # exp, a factor of the log form, may lean to one side within its row's bound.
        summands=0 if descriptor.family.startswith("log") else plan.summands,
        accuracy=REPRESENTABLE if plan.contents == "exact" else None,
        fill="exact" if plan.contents == "exact" else "random" if plan.contents == "random" else "designed",
    )


def _special(kind: type[AxisDescriptor], dtype: str, plan: Plan) -> Case:
    """Return the case of special values: exact in the forward forms, in the backward ones up to the sign of zeros."""
    inputs = special_inputs(kind.family, dtype)
    form = Form(next(iter(inputs.values())).shape)
    case = _case(kind, dtype, replace(plan, forms=(form,) * (len(inputs) + 1)))
    is_exact = len(inputs) == 1
    return replace(
        case,
        data=lambda _rng: inputs,
        accuracy=LISTED if is_exact else None,
        fill="exact" if is_exact else "designed",
    )


def _data(descriptor: AxisDescriptor, contents: str, rng: np.random.Generator) -> dict[str, Any]:
    shape, axis = descriptor.out.shape, descriptor.axis
    dtype = descriptor.out.dtype
    lying = (*shape[:axis], *shape[axis + 1 :], descriptor.extent)
    arrays: tuple[Any, ...]
    if len(descriptor.operands) > 2:  # noqa: PLR2004 - dy and y
        arrays = GRADIENTS[contents](rng, dtype, lying, descriptor.family.startswith("log"))
    else:
        contents = "one-share" if contents == "exact" and descriptor.family.startswith("log") else contents
        arrays = (ROWS[contents](rng, dtype, lying),)
    inputs: dict[str, Any] = {}
    for name, spec, array in zip(descriptor.operands, descriptor.specs, arrays, strict=False):
        assert isinstance(spec, TensorSpec)
        inputs[name] = settled(spec, np.ascontiguousarray(np.moveaxis(array, -1, axis)) if shape else array.reshape(()))
    return inputs
