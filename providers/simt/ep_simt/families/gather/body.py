"""Gather: a program for each length of elements, with an entry for each type of index."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from ep_primitives import Gather

from ep_simt.bits import bits_words, unsigned
from ep_simt.body import BitwiseBody, Body
from ep_simt.elements import ELEMENTS
from ep_simt.elementwise.visit import Layout, long_rows
from ep_simt.packs import pack_words, spread_of
from ep_simt.plan import Launch, Plan, operands_of
from ep_simt.program import Entry, Program, access, number, taken, tensor

if TYPE_CHECKING:
    from ep.layout.dims import Geometry
    from ep.work.key import KernelKey

    from ep_simt.target import Target

__all__ = ["AHEAD", "BODY", "FAR"]

_FILES: Final = ("dialect/packs.h", "elementwise/loops.h", "families/gather/gather.inc")
_INDICES: Final = ("i32", "i64")
_FEW: Final = 8
"""Neighbours that an index serves: a loop over fewer costs more than it does."""
FAR: Final = 1 << 20
"""Bytes of an x that lies in no cache of a core's own."""
AHEAD: Final = 24
"""Indices after which a row of such an x is read that is asked for now: as many as a core has under way, or more."""


class _Gather(BitwiseBody):
    """One launch over the elements of out."""

    descriptor = Gather

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        index = ELEMENTS[key.dtypes[1]]
        return f"gather_{index}", f"gather_few_{index}"

    def program(self, key: KernelKey, target: Target) -> Program:
        element = unsigned(key.dtypes[-1])
        return _program(element, spread_of((element,), target), wide=key.wide)

    def plan(self, descriptor: Gather, target: Target) -> Plan:
        key, space, extent = descriptor.key, descriptor.geometry, descriptor.extent
        few, rows = _few(space, target)
        spread = spread_of((unsigned(descriptor.out.dtype),), target)
        visit = Layout(strided=True, wide=key.wide).visit(long_rows(rows, target), target, spread=spread)
        operands = operands_of(descriptor, space.offsets)
        step = descriptor.step if extent > 1 else 0  # of an extent of 1 it may be of any size
        entry, entry_of_few = self.entries(key)
        numbers = (extent, step, AHEAD if descriptor.x.nbytes > FAR else 0)
        if few > 1:
            return Plan((Launch(entry_of_few, visit.items, 0, (*operands, *numbers, few, *visit.arguments)),))
        return Plan((Launch(entry, visit.items, 0, (*operands, *numbers, *visit.arguments)),))


BODY: Final[Body] = _Gather()


def _few(space: Geometry, target: Target) -> tuple[int, Geometry]:
    """Return the neighbours that each index serves, if they are few and work-items are loops, and the space without them; else 1."""
    last = tuple([own[-1] for own in space.strides]) if space.shape else ()
    if target.steps == 1 or last != (1, 0, 1) or not 0 < space.shape[-1] < _FEW:
        return 1, space
    few, strides = space.shape[-1], tuple([own[:-1] for own in space.strides])
    return few, space._replace(shape=space.shape[:-1], strides=strides, size=space.size // few)


@functools.cache
def _program(element: str, spread: int, *, wide: bool) -> Program:
    """Return the program of a length."""
    words = {"EP_WIDE": int(wide), "EP_ROWS_APART": 1, **bits_words(element)}
    words |= access("x", element) | access("out", element)
    words |= pack_words({"x": element, "indices": None, "out": element}, ("ts",), spread)
    numbers = [number(name, "i64") for name in ("extent", "step", "ahead")]
    walk = Layout(strided=True, wide=wide).parameters
    entries = []
    for index in _INDICES:
        operands = taken(tensor("x", element), tensor("indices", index), tensor("out", element), numbers)
        entries += [
            Entry(f"gather_{index}", taken(operands, walk), f"EP_TAKES_{index}"),
            Entry(f"gather_few_{index}", taken(operands, [number("few", "i64")], walk), f"EP_TAKES_FEW_{index}"),
        ]
    return Program(f"gather-{element}-{'wide' if wide else 'narrow'}", tuple(words.items()), _FILES, tuple(entries))
