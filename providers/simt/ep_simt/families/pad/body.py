"""Pad: a program for each length of elements; modes are a number of the launch."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from ep.layout.dims import Geometry
from ep_primitives import Pad
from ep_primitives.families.pad.dimensions import merged_dimensions

from ep_simt.bits import NO_NUMBER, bits_words, given, number_bits, unsigned
from ep_simt.body import BitwiseBody, Body
from ep_simt.elementwise.visit import Layout, long_rows
from ep_simt.packs import spread_of
from ep_simt.plan import Launch, Operand, Plan
from ep_simt.program import Entry, Program, access, number, taken, tensor

if TYPE_CHECKING:
    from ep.work.key import KernelKey
    from ep_primitives.families.pad.dimensions import PadDimension

    from ep_simt.target import Target

__all__ = ["BODY"]

_FILES: Final = ("elementwise/loops.h", "families/pad/pad.inc")
_MODES: Final = ("constant", "reflect", "edge", "circular")


class _Pad(BitwiseBody):
    """One launch over the elements of out."""

    descriptor = Pad

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        del key
        return ("pad",)

    def program(self, key: KernelKey, target: Target) -> Program:
        del target
        return _program(unsigned(key.dtypes[-1]), wide=key.wide)

    def plan(self, descriptor: Pad, target: Target) -> Plan:
        x, out, key = descriptor.x, descriptor.out, descriptor.key
        dimensions = merged_dimensions(descriptor)
        skipped = sum(max(-each.before, 0) * each.x_step for each in dimensions)
        columns = zip(*(_column(each) for each in dimensions), strict=True)
        shape, *strides = (tuple(column) for column in columns)
        space = Geometry(shape, tuple(strides), (), out.size, is_dense=False)
        spread = spread_of((unsigned(out.dtype),), target)
        visit = Layout(strided=True, wide=key.wide).visit(long_rows(space, target), target, spread=spread)
        value = number_bits(out.dtype, 0) if descriptor.op == "constant" else NO_NUMBER
        operands = Operand(0, x.itemsize, x.offset + skipped), Operand(1, out.itemsize, out.offset)
        return Plan((Launch("pad", visit.items, 0, (*operands, _MODES.index(descriptor.op), value, *visit.arguments)),))


BODY: Final[Body] = _Pad()


def _column(dimension: PadDimension) -> tuple[int, ...]:
    """Return the extent of out, the steps of x and out, the extent of the part of x that out holds, and the elements before it.

    Steps that no element takes are 0: of an extent of 1 they may be of any size.
    """
    extent, source, before, x_step, out_step = dimension
    ahead = max(before, 0)
    held = min(source + min(before, 0), extent - ahead)
    return extent, x_step if held > 1 else 0, out_step if extent > 1 else 0, held, ahead


@functools.cache
def _program(element: str, *, wide: bool) -> Program:
    """Return the program of a length."""
    words: dict[str, object] = {
        "EP_WIDE": int(wide),
        **bits_words(element),
        **{f"EP_{mode.upper()}": place for place, mode in enumerate(_MODES)},
        **access("x", element),
        **access("out", element),
    }
    parameters = taken(
        tensor("x", element),
        tensor("out", element),
        (number("mode", "i32"), given("value")),
        Layout(strided=True, wide=wide).parameters,
    )
    name = f"pad-{element}-{'wide' if wide else 'narrow'}"
    return Program(name, tuple(words.items()), _FILES, (Entry("pad", parameters),))
