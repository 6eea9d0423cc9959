"""OneHot: over the loops of `elementwise`, whose second operand is the class, which no kernel reads."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from ep_primitives import OneHot

from ep_simt.bits import bits_words, given, number_bits, unsigned
from ep_simt.body import BitwiseBody, Body
from ep_simt.elements import ELEMENTS
from ep_simt.elementwise.visit import Layout, as_written, long_rows
from ep_simt.packs import pack_words, spread_of
from ep_simt.plan import Launch, Operand, Plan
from ep_simt.program import Entry, Program, access, number, taken, tensor

if TYPE_CHECKING:
    from ep.layout.dims import Geometry
    from ep.work.key import KernelKey

    from ep_simt.target import Target

__all__ = ["BODY"]

_FILES: Final = ("dialect/packs.h", "elementwise/loops.h", "families/one_hot/one_hot.inc")
_INDICES: Final = ("i32", "i64")


class _OneHot(BitwiseBody):
    """One launch over the elements of out, in the order of its strides."""

    descriptor = OneHot

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        return (f"one_hot_{ELEMENTS[key.dtypes[0]]}",)

    def program(self, key: KernelKey, target: Target) -> Program:
        element = unsigned(key.dtypes[-1])
        return _program(element, spread_of((element,), target), wide=key.wide)

    def plan(self, descriptor: OneHot, target: Target) -> Plan:
        key, out, offsets = descriptor.key, descriptor.out, descriptor.geometry.offsets
        spread = spread_of((unsigned(out.dtype),), target)
        layout, space = Layout(strided=True, wide=key.wide), long_rows(_elements(descriptor), target)
        visit = layout.visit(space, target, spread=spread)
        tensors = Operand(0, descriptor.indices.itemsize, offsets[0]), Operand(1, out.itemsize, offsets[-1])
        numbers = descriptor.first, descriptor.classes, number_bits(out.dtype, 0), number_bits(out.dtype, 1)
        (entry,) = self.entries(key)
        return Plan((Launch(entry, visit.items, 0, (*tensors, *numbers, *visit.arguments)),))


BODY: Final[Body] = _OneHot()


def _elements(descriptor: OneHot) -> Geometry:
    """Return the space of the rows with the classes as one more dimension: of the indices, of the classes, and of out."""
    rows, classes = descriptor.geometry, descriptor.classes
    shape = (*rows.shape, classes)
    indices, out = (*rows.strides[0], 0), (*rows.strides[-1], descriptor.step if classes > 1 else 1)
    numbers = tuple(int(axis == len(shape) - 1) for axis in range(len(shape)))
    return as_written(rows._replace(shape=shape, strides=(indices, numbers, out), size=descriptor.out.size))


@functools.cache
def _program(element: str, spread: int, *, wide: bool) -> Program:
    """Return the program of a length."""
    packs = pack_words({"indices": None, "class": None, "out": element}, (), spread)
    words = {"EP_WIDE": int(wide), **bits_words(element), **packs, **access("out", element)}
    numbers = number("first_class", "i64"), number("classes", "i64"), given("on"), given("off")
    walk = Layout(strided=True, wide=wide).parameters
    entries = tuple(
        Entry(
            f"one_hot_{index}",
            taken(tensor("indices", index), tensor("out", element), numbers, walk),
            f"EP_TAKES_{index}",
        )
        for index in _INDICES
    )
    return Program(f"one_hot-{element}-{'wide' if wide else 'narrow'}", tuple(words.items()), _FILES, entries)
