"""The cases of Scan: plans of shapes with random rows, then the rows by which reductions show their faults."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ep import TensorSpec
from ep_primitives.cases.case import Case
from ep_primitives.families.reduce.data import CONTENTS
from ep_primitives.families.scan.descriptor import Scan
from ep_primitives.families.scan.plans import Way, ways
from ep_primitives.judging.accuracy import REPRESENTABLE
from ep_primitives.reductions.data import spread
from ep_primitives.situations.along import along_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from ep_primitives.families.reduce.data import Content
    from ep_primitives.situations.family import Row

__all__ = ["cases", "situated"]

_CHIEF: Final = {("sum", "float32"), ("sum", "int8"), ("max", "float16"), ("prod", "float64"), ("min", "int32")}
"""The ops and element types that have every plan; the long ones not all of these, since references of float64 are not wide enough."""
_LONG: Final = {("sum", "float32"), ("sum", "int8"), ("max", "float16")}
_VALUED: Final = {"float32", "int8", "complex64"}
"""Element types whose cases about values are quick."""
_USUAL: Final = {"not-finite", "not-finite-parts", "signed-zeros", "integers", "powers", "ends"}
"""Contents that all element types have."""


def cases(op: str, dtype: str, layout: str) -> Iterator[Case]:
    """Yield the cases of a cell made by hand: every plan and content of the chief ones, the usual ones of the others.

    Profile quick keeps contents, of few element types.
    """
    is_chief = (op, dtype) in _CHIEF
    for way in ways(layout):
        if way.plan.profile == "quick":
            is_wanted = way.is_usual or is_chief
        else:
            is_wanted = (op, dtype) in _LONG and dtype in (way.plan.dtypes or (dtype,))
        if is_wanted:
            yield _planned(op, dtype, way).late()
    if layout == "dense":
        for content in CONTENTS:
            is_wanted = is_chief and content.profile == "quick"
            if op in content.ops and dtype in content.dtypes and (is_wanted or content.name in _USUAL):
                yield _filled(op, dtype, content) if dtype in _VALUED else _filled(op, dtype, content).late()


def situated(op: str, dtype: str, layout: str, row: Row, seed: int) -> Case:
    """Return the case of a situation."""
    way = row.situation.get("way-of-rows", "forth")
    plan = along_plan(layout, ("x",), row, seed)
    return _planned(op, dtype, Way(plan, "exclusive" in way, "back" in way, is_usual=True))


def _planned(op: str, dtype: str, way: Way) -> Case:
    plan = way.plan
    x, out = (TensorSpec(dtype, *form) for form in plan.forms)
    descriptor = Scan(op, x=x, out=out, axis=plan.axis, exclusive=way.exclusive, reverse=way.reverse)
    return Case(
        plan.name,
        descriptor,
        partial(_random, descriptor),
        inplace=None if plan.inplace is None else "x",
        profile=plan.profile,
        shift=plan.shift * x.itemsize,
    )


def _random(descriptor: Scan, rng: np.random.Generator) -> dict[str, Any]:
    x = descriptor.x
    return {"x": spread(x, (descriptor.axis,) if x.shape else (), descriptor.op, rng)}


def _filled(op: str, dtype: str, content: Content) -> Case:
    """Return a case with one content: its rows lie along the last axis."""
    descriptor = Scan.infer(op, TensorSpec(dtype, content.shape))
    case = Case(content.name, descriptor, partial(_content, content, descriptor), fill="designed")
    return replace(case, accuracy=REPRESENTABLE, fill="exact") if content.is_exact else case


def _content(content: Content, descriptor: Scan, rng: np.random.Generator) -> dict[str, Any]:
    return {"x": content.rows(rng, descriptor.op, descriptor.x.dtype, content.shape)}
