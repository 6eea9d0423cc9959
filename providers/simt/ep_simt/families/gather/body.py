"""Gather: a program for each length of elements, with an entry for each type of index."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from ep_primitives import Gather

from ep_simt.bits import bits_words, unsigned
from ep_simt.body import BitwiseBody, Body
from ep_simt.elements import ELEMENTS
from ep_simt.elementwise.visit import Layout, long_rows
from ep_simt.plan import Launch, Plan, operands_of
from ep_simt.program import Entry, Program, access, number, taken, tensor

if TYPE_CHECKING:
    from ep.work.key import KernelKey

    from ep_simt.target import Target

__all__ = ["BODY"]

_FILES: Final = ("elementwise/loops.h", "families/gather/gather.inc")
_INDICES: Final = ("i32", "i64")


class _Gather(BitwiseBody):
    """One launch over the elements of out."""

    descriptor = Gather

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        return (f"gather_{ELEMENTS[key.dtypes[1]]}",)

    def program(self, key: KernelKey, target: Target) -> Program:
        del target
        return _program(unsigned(key.dtypes[-1]), wide=key.wide)

    def plan(self, descriptor: Gather, target: Target) -> Plan:
        key, space, extent = descriptor.key, descriptor.geometry, descriptor.extent
        visit = Layout(strided=True, wide=key.wide).visit(long_rows(space, target), target)
        operands = operands_of(descriptor, space.offsets)
        step = descriptor.step if extent > 1 else 0  # of an extent of 1 it may be of any size
        (entry,) = self.entries(key)
        return Plan((Launch(entry, visit.items, 0, (*operands, extent, step, *visit.arguments)),))


BODY: Final[Body] = _Gather()


@functools.cache
def _program(element: str, *, wide: bool) -> Program:
    """Return the program of a length."""
    words = {"EP_WIDE": int(wide), **bits_words(element), **access("x", element), **access("out", element)}
    numbers = number("extent", "i64"), number("step", "i64")
    walk = Layout(strided=True, wide=wide).parameters
    entries = tuple(
        Entry(
            f"gather_{index}",
            taken(tensor("x", element), tensor("indices", index), tensor("out", element), numbers, walk),
            f"EP_TAKES_{index}",
        )
        for index in _INDICES
    )
    return Program(f"gather-{element}-{'wide' if wide else 'narrow'}", tuple(words.items()), _FILES, entries)
