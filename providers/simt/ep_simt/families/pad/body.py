"""Pad: a program for each length of elements; modes are a number of the launch."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from ep.layout.dims import Geometry
from ep_primitives import Pad
from ep_primitives.families.pad.dimensions import merged_dimensions

from ep_simt.bits import NO_NUMBER, bits_words, given, number_bits, unsigned
from ep_simt.body import BitwiseBody, Body
from ep_simt.elementwise.visit import Layout, Visit, long_rows, packed_geometry
from ep_simt.packs import pack_words, spread_of
from ep_simt.plan import Launch, Operand, Plan
from ep_simt.program import Entry, Program, access, number, taken, tensor

if TYPE_CHECKING:
    from ep.work.key import KernelKey
    from ep_primitives.families.pad.dimensions import PadDimension

    from ep_simt.target import Target

__all__ = ["BODY"]

_FILES: Final = ("dialect/packs.h", "elementwise/loops.h", "families/pad/pad.inc")
_ENTRIES: Final = ("pad", "pad_dense")
"""The second where neighbours fetch together, and out is dense."""
_MODES: Final = ("constant", "reflect", "edge", "circular")


class _Pad(BitwiseBody):
    """One launch over the elements of out."""

    descriptor = Pad

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        del key
        return _ENTRIES

    def program(self, key: KernelKey, target: Target) -> Program:
        element = unsigned(key.dtypes[-1])
        return _program(element, spread_of((element,), target), wide=key.wide)

    def plan(self, descriptor: Pad, target: Target) -> Plan:
        x, out, key = descriptor.x, descriptor.out, descriptor.key
        dimensions = merged_dimensions(descriptor)
        skipped = sum(max(-each.before, 0) * each.x_step for each in dimensions)
        columns = zip(*(_column(each) for each in dimensions), strict=True)
        shape, *strides = (tuple(column) for column in columns)
        space = Geometry(shape, tuple(strides), (), out.size, is_dense=False)
        spread = spread_of((unsigned(out.dtype),), target)
        is_packed = spread > 1 and out.size > 0 and _is_dense(shape, strides[1])
        if is_packed:
            packed = packed_geometry(shape, strides, (spread, 0, 0, out.size, 1), wide=key.wide)
            visit = Visit(-(-out.size // spread), (packed,))
        else:
            visit = Layout(strided=True, wide=key.wide).visit(long_rows(space, target), target)
        value = number_bits(out.dtype, 0) if descriptor.op == "constant" else NO_NUMBER
        operands = Operand(0, x.itemsize, x.offset + skipped), Operand(1, out.itemsize, out.offset)
        entry = self.entries(key)[is_packed]
        return Plan((Launch(entry, visit.items, 0, (*operands, _MODES.index(descriptor.op), value, *visit.arguments)),))


BODY: Final[Body] = _Pad()


def _column(dimension: PadDimension) -> tuple[int, ...]:
    """Return the extent of out, the steps of x and out, the extent of the part of x that out holds, and the elements before it.

    Steps that no element takes are 0: of an extent of 1 they may be of any size.
    """
    extent, source, before, x_step, out_step = dimension
    ahead = max(before, 0)
    held = min(source + min(before, 0), extent - ahead)
    return extent, x_step if held > 1 else 0, out_step if extent > 1 else 0, held, ahead


def _is_dense(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Return True if the elements of out lie one after another in the order of the dimensions."""
    step = 1
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent > 1 and stride != step:
            return False
        step *= extent
    return True


@functools.cache
def _program(element: str, spread: int, *, wide: bool) -> Program:
    """Return the program of a length."""
    words: dict[str, object] = {
        "EP_WIDE": int(wide),
        "EP_ROWS_APART": 1,
        **bits_words(element),
        **{f"EP_{mode.upper()}": place for place, mode in enumerate(_MODES)},
        **pack_words({"x": None, "out": element}, (), spread),
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
    entries = tuple(Entry(entry, parameters) for entry in (_ENTRIES if spread > 1 else _ENTRIES[:1]))
    return Program(name, tuple(words.items()), _FILES, entries)
