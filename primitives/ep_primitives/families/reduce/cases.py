"""The cases of Reduce: plans of shapes with random rows, then rows that show a fault of one kind."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ep import TensorSpec
from ep_primitives.cases.case import Case
from ep_primitives.cases.signature import Signature
from ep_primitives.families.reduce.data import CONTENTS
from ep_primitives.families.reduce.descriptor import Reduce
from ep_primitives.judging.accuracy import REPRESENTABLE
from ep_primitives.reductions.data import folded, spread
from ep_primitives.reductions.plans import PLANS
from ep_primitives.reductions.situations import reduction_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from ep_primitives.families.reduce.data import Content
    from ep_primitives.reductions.plans import Plan
    from ep_primitives.situations.family import Row

__all__ = ["about_values", "cases", "situated"]


_SIZES: Final = ("int8", "int16", "float64", "complex128")
_VALUED: Final = ("float32", "int8", "complex64")
"""Element types whose cases about values are quick."""
_QUICK: Final = {("no-terms", "float32"), ("many-rows", "max")}
"""Names of plans that are quick, with an element type of out or an op."""
_LONG: Final = {
    Signature("sum", ("uint8",), "uint64"),
    Signature("max", ("int8",), "int8"),
    Signature("any", ("bool",), "bool"),
}
"""The ops for rows of more than 2^31 elements: a count, a value and a flag."""


def cases(signature: Signature, layout: str) -> Iterator[Case]:
    """Yield the cases made by hand about layout: every plan of the chief signatures, the usual plans of the others.

    Profile quick keeps rows of no terms, whose results are of the op alone, and more rows than some devices have groups.
    """
    for plan in PLANS[layout]():
        if signature in _LONG if plan.is_long else plan.is_usual or _is_chief(signature):
            case = _planned(signature, plan)
            yield case if (plan.name, signature.out) in _QUICK or (plan.name, signature.op) in _QUICK else case.late()


def situated(signature: Signature, layout: str, row: Row, seed: int) -> Case:
    """Return the case of a situation."""
    return _planned(signature, reduction_plan(layout, row, seed, is_single=False))


def _is_chief(signature: Signature) -> bool:
    """Say whether a signature stands for its op, which float32 does, or for the size of its elements, which a sum does."""
    given = signature.inputs[0]
    return given == "float32" or (signature.op == "sum" and given == signature.out and given in _SIZES)


def _planned(signature: Signature, plan: Plan) -> Case:
    x, out = plan.specs(signature.inputs[0], signature.out)
    descriptor = Reduce(signature.op, x=x, out=out, axis=plan.axes)
    shift = plan.shift * max(x.itemsize, out.itemsize)
    return Case(plan.name, descriptor, partial(_random, descriptor), profile=plan.profile, shift=shift)


def _random(descriptor: Reduce, rng: np.random.Generator) -> dict[str, Any]:
    return {"x": spread(descriptor.x, descriptor.axes, descriptor.op, rng)}


def about_values(signature: Signature) -> Iterator[Case]:
    """Yield the cases about values, in profile quick along the last axis alone, of few element types."""
    (dtype,) = signature.inputs
    for content in CONTENTS:
        if signature.op in content.ops and dtype in content.dtypes:
            case = _filled(signature, content, axis=1)
            yield case if dtype in _VALUED and signature.out != "float64" else case.late()
            if dtype == "float32":
                yield _filled(signature, content, axis=0).late()


def _filled(signature: Signature, content: Content, axis: int) -> Case:
    """Return a case with one content: a matrix with its rows along an axis."""
    shape = content.shape if axis else content.shape[::-1]
    descriptor = Reduce.infer(signature.op, TensorSpec(signature.inputs[0], shape), axis, dtype=signature.out)
    return Case(
        content.name if axis else f"{content.name}-columns",
        descriptor,
        partial(_content, content, descriptor),
        profile=content.profile,
        accuracy=REPRESENTABLE if content.is_exact else None,
        summands=content.summands,
        fill="exact" if content.is_exact else "designed",
    )


def _content(content: Content, descriptor: Reduce, rng: np.random.Generator) -> dict[str, Any]:
    rows = content.rows(rng, descriptor.op, descriptor.x.dtype, content.shape)
    return {"x": folded(rows, descriptor.x.shape, descriptor.axes)}
