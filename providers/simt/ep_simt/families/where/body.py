"""Where: elements of a length share a program a type of the condition, whose entries differ by the layout."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from ep_primitives import Where

import ep
from ep_simt.bits import NO_NUMBER, bits_words, given, number_bits, unsigned
from ep_simt.body import BitwiseBody, Body
from ep_simt.elementwise.visit import Layout, layouts, long_rows
from ep_simt.packs import pack_words, spread_of
from ep_simt.plan import Launch, Operand, Plan
from ep_simt.program import Entry, Program, access, number, taken, tensor

if TYPE_CHECKING:
    from ep.work.key import KernelKey

    from ep_simt.target import Target

__all__ = ["BODY"]

_SIDES: Final = (1, 2)
"""The places of a and b among the operands."""
_FORMS: Final = ("ttt", "tst", "tts", "tss")
"""Of condition, a and b: t for a tensor, s for a number."""


class _Where(BitwiseBody):
    """One launch; a number's tensor is out, which is not read."""

    descriptor = Where

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        return (f"where_{key.layout}",)

    def program(self, key: KernelKey, target: Target) -> Program:
        condition, element = _elements(key)
        return _program(condition, element, spread_of((condition, element), target), wide=Layout.of(key).wide)

    def plan(self, descriptor: Where, target: Target) -> Plan:
        key, space = descriptor.key, descriptor.geometry
        visit = Layout.of(key).visit(long_rows(space, target), target, spread=spread_of(_elements(key), target))
        specs, dtype = descriptor.specs, descriptor.out.dtype
        tensors = [place for place, spec in enumerate(specs) if isinstance(spec, ep.TensorSpec)]
        scalars = [place for place in _SIDES if place not in tensors]
        operands = [
            Operand(tensors.index(place), ep.dtype(specs[place].dtype).itemsize, space.offsets[place])
            for place in (at if at in tensors else len(specs) - 1 for at in range(len(specs)))
        ]
        sides = [number_bits(dtype, scalars.index(side)) if side in scalars else NO_NUMBER for side in _SIDES]
        numbers = sum(scalars)  # bit 0 for a, bit 1 for b
        (entry,) = self.entries(key)
        return Plan((Launch(entry, visit.items, 0, (*operands, numbers, *sides, *visit.arguments)),))


BODY: Final[Body] = _Where()


def _elements(key: KernelKey) -> tuple[str, str]:
    """Return those of the condition and of the sides, as called in C after `ep_`."""
    return unsigned(key.dtypes[0]), unsigned(key.dtypes[-1])


@functools.cache
def _program(condition: str, element: str, spread: int, *, wide: bool) -> Program:
    """Return the program of a type of the condition and a length."""
    tensors: dict[str, str | None] = {"condition": condition, "a": element, "b": element, "out": element}
    sides = taken(*(tensor(name, element) for name in ("a", "b", "out")))
    numbers = (number("numbers", "i32"), given("a_number"), given("b_number"))
    entries = [
        Entry(
            f"where_{name}",
            taken(tensor("condition", condition), sides, numbers, layout.parameters),
            f"EP_TAKES_{name}",
        )
        for name, layout in layouts(wide=wide).items()
    ]
    words = {"EP_WIDE": int(wide), **bits_words(element), **pack_words(tensors, _FORMS, spread)}
    for name in tensors:
        words |= access(name, condition if name == "condition" else element)
    return Program(
        f"where-{condition}-{element}-{'wide' if wide else 'narrow'}",
        tuple(words.items()),
        ("dialect/packs.h", "elementwise/loops.h", "families/where/where.inc"),
        tuple(entries),
    )
