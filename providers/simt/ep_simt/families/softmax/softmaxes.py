"""Softmaxes: the body of softmaxes and of their backward forms, which differ in their formulas alone."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import ep
from ep_simt.body import Body
from ep_simt.dialect import text
from ep_simt.elements import ELEMENTS
from ep_simt.families.softmax import passes
from ep_simt.families.softmax.cut import Cut
from ep_simt.families.softmax.passes import Passes, PassLaunches, untouched
from ep_simt.mathematics import mathematics
from ep_simt.plan import Operand, Plan, operands_of
from ep_simt.program import Program
from ep_simt.rows.geometry import packed_rows

if TYPE_CHECKING:
    from ep.work.key import KernelKey

    from ep_simt.target import Target

__all__ = ["Softmaxes"]


class Softmaxes(Body):
    """One launch for rows that a group holds, three for longer ones: measures of their pieces, of the rows, and the elements."""

    def __init__(self, descriptor: type[ep.Descriptor]) -> None:
        """Take the kind of descriptor."""
        self.descriptor = descriptor

    def rounds(self, key: KernelKey) -> bool:
        return key.family == "softmax" and key.compute == "float32"

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        return f"{key.family}_rows", f"{key.family}_totals"

    def program(self, key: KernelKey, target: Target) -> Program:
        inputs, element, compute = len(key.dtypes) - 1, ELEMENTS[key.dtypes[0]], ELEMENTS[key.compute]
        return _program(Passes(key.family, inputs, inputs + 1, element, compute, key.wide, target))

    def plan(self, descriptor: Any, target: Target) -> Plan:
        space, key = descriptor.geometry, descriptor.key
        if not space.size:
            return Plan(())
        itemsize = ep.dtype(key.compute).itemsize
        cut = Cut.of(space.shape, space.strides, itemsize, target)
        packed = packed_rows(space.shape, space.strides, len(space.shape) - 1, wide=key.wide)
        launches = PassLaunches(key.family, target, cut, math.prod(space.shape[:-1]), packed)
        operands = operands_of(descriptor, space.offsets)
        if cut.pieces == 1:
            measures = untouched(Operand(operands[-1].place, itemsize))
            return Plan((launches.rows(passes.WHOLE_ROWS, *operands, *measures),))
        measures = launches.measures(len(descriptor.tensors), itemsize)
        every = (
            launches.rows(passes.MEASURES, *operands, *measures),
            launches.totals(*measures),
            launches.rows(passes.ELEMENTS, *operands, *measures),
        )
        return Plan(every, launches.size * itemsize)


@functools.lru_cache(maxsize=1024)
def _program(own: Passes) -> Program:
    """Return the program of a family."""
    formulas = f"families/{own.family}/{own.family}.inc"
    source = "".join(map(text, (formulas, *passes.PASSES)))
    name = f"{own.family}-{own.element}-{'wide' if own.wide else 'narrow'}-{own.target.group}"
    files = (*mathematics(source, own.compute), *passes.FILES, formulas, *passes.PASSES)
    return Program(name, tuple(own.words(("out",)).items()), files, own.entries(("out",)))
