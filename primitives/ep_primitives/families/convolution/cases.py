"""The cases of Convolution and ConvolutionTransposed: plans with element types and data."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import ep
from ep_primitives.cases.case import Case
from ep_primitives.families.convolution.data import CONTENTS, random
from ep_primitives.judging.accuracy import REPRESENTABLE
from ep_primitives.judging.layout import settled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np

    from ep_primitives.families.convolution.plans import Plan

__all__ = ["cases", "planned_case"]


def cases(plans: Iterable[Plan], dtype: str) -> Iterator[Case]:
    """Yield the cases of plans for an element type of x."""
    for plan in plans:
        if ep.dtype(dtype).kind in plan.kinds:
            yield planned_case(plan, dtype)


def planned_case(plan: Plan, dtype: str) -> Case:
    """Return the case of a plan for an element type of x."""
    descriptor = plan.descriptor(dtype)
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


def _data(plan: Plan, descriptor: Any, rng: np.random.Generator) -> dict[str, Any]:
    specs = {name: spec for name, spec in descriptor.present.items() if name not in descriptor.outputs}
    inputs = {name: random(rng, spec.dtype, spec.shape) for name, spec in specs.items()}
    if plan.contents:
        CONTENTS[plan.contents](rng, inputs)
    return {name: settled(specs[name], array) for name, array in inputs.items()}
