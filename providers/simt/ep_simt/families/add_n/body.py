"""AddN: sums of four terms at once; of more, partial sums of the compute type stand in scratch from launch to launch."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final, NamedTuple

from ep.layout.spec import dense_strides
from ep_primitives import AddN

import ep
from ep_simt.bits import unsigned
from ep_simt.body import Body
from ep_simt.elements import ELEMENTS, has_doubles, kind_of
from ep_simt.elementwise.visit import Layout, layouts, long_rows
from ep_simt.packs import pack_words, spread_of
from ep_simt.plan import Launch, Operand, Plan, operands_of
from ep_simt.program import Entry, Parameter, Program, access, number, taken, tensor, type_words

if TYPE_CHECKING:
    from ep.work.key import KernelKey

    from ep_simt.target import Target

__all__ = ["BODY"]

_FILES: Final = ("dialect/packs.h", "elementwise/loops.h", "families/add_n/add_n.inc")
_AT_ONCE: Final = 4
"""Terms of a launch, one of which is the partial sum of those before."""

_TERMS: Final = tuple(f"x{place}" for place in range(_AT_ONCE))
_PARTS: Final = {
    "whole": (*_TERMS, "out"),
    "first": (*_TERMS, "partial"),
    "middle": ("partial", *_TERMS[1:]),
    "last": ("partial", *_TERMS[1:], "out"),
}
"""The tensors of each entry; where partial sums are of the type of the elements, the first one serves for all."""


class _Variant(NamedTuple):
    """The properties that decide a program.

    element  : of the tensors, as called in C after `ep_`; integers are unsigned, because all wrap
    compute  : of the sums
    spread   : elements that a work-item takes at once
    """

    element: str
    compute: str
    wide: bool
    spread: int = 1

    @property
    def is_narrow(self) -> bool:
        """True if partial sums are of another type than elements."""
        return self.element != self.compute

    def entry(self, part: str, layout: str) -> str:
        """Return the name of the entry for a part of a sum."""
        return f"add_n_{part if self.is_narrow else 'whole'}_{layout}"


class _AddN(Body):
    """One launch for up to four terms; out is written by the last alone, since any term may lie there."""

    descriptor = AddN

    def needs(self, key: KernelKey) -> tuple[str, ...]:
        return ("float64",) if has_doubles((_variant(key).compute,)) else ()

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        parts = ("whole",) if len(key.dtypes) <= _AT_ONCE + 1 else ("first", "middle", "last")
        return tuple(dict.fromkeys(_variant(key).entry(part, key.layout) for part in parts))

    def program(self, key: KernelKey, target: Target) -> Program:
        variant = _variant(key)
        return _program(variant._replace(spread=spread_of((variant.element,), target)))

    def plan(self, descriptor: AddN, target: Target) -> Plan:
        key, space = descriptor.key, descriptor.geometry
        variant = _variant(key)
        *terms, out = zip(operands_of(descriptor, space.offsets), space.strides, strict=True)
        itemsize = ep.dtype(descriptor.compute).itemsize
        partial = Operand(len(descriptor.specs), itemsize), dense_strides(space.shape)

        def launch(part: str, *tensors: tuple[Operand, tuple[int, ...]]) -> Launch:
            *given, to = tensors
            padded = (*given, *given[-1:] * (_AT_ONCE - len(given)), to)
            walked = space._replace(strides=tuple(steps for _, steps in padded))
            is_whole = part == "whole" or not variant.is_narrow
            spread = spread_of((variant.element,), target) if is_whole else 1
            visit = Layout.of(key).visit(long_rows(walked, target), target, spread=spread)
            in_place = part == "middle" and variant.is_narrow
            memories = [memory for memory, _ in (padded[:-1] if in_place else padded)]
            return Launch(variant.entry(part, key.layout), visit.items, 0, (*memories, len(given), *visit.arguments))

        if len(terms) <= _AT_ONCE:
            return Plan((launch("whole", *terms, out),))
        launches = [launch("first", *terms[:_AT_ONCE], partial)]
        left = terms[_AT_ONCE:]
        while len(left) >= _AT_ONCE:
            launches.append(launch("middle", partial, *left[: _AT_ONCE - 1], partial))
            left = left[_AT_ONCE - 1 :]
        return Plan((*launches, launch("last", partial, *left, out)), space.size * itemsize)


BODY: Final[Body] = _AddN()


def _variant(key: KernelKey) -> _Variant:
    dtype, wide = key.dtypes[-1], Layout.of(key).wide
    if kind_of(ELEMENTS[dtype]) == "INTEGER":
        return _Variant(unsigned(dtype), unsigned(dtype), wide)
    return _Variant(ELEMENTS[dtype], ELEMENTS[key.compute], wide)


@functools.cache
def _program(variant: _Variant) -> Program:
    """Return the program of a variant."""
    element, compute, wide, spread = variant
    words: dict[str, object] = {
        "EP_HAS_F64": int(has_doubles((compute,))),
        "EP_WIDE": int(wide),
        "EP_IS_BOOLEAN": int(compute == "bool"),
        "EP_IS_NARROW": int(variant.is_narrow),
        **type_words(compute),
        **pack_words(
            dict.fromkeys((*_TERMS, "out"), element), ("t" * terms for terms in range(1, _AT_ONCE + 1)), spread
        ),
        **access("partial", compute),
    }
    for name in (*_TERMS, "out"):
        words |= access(name, element)
    entries = tuple(
        Entry(
            f"add_n_{part}_{kind}",
            taken(_tensors(names, element, compute), (number("terms", "i32"),), layout.parameters),
            f"EP_TAKES_{part}_{kind}",
            frozenset({"partial" if part == "middle" else names[-1]}),
        )
        for kind, layout in layouts(wide=wide).items()
        for part, names in _PARTS.items()
        if part == "whole" or variant.is_narrow
    )
    return Program(f"add_n-{element}-{'wide' if wide else 'narrow'}", tuple(words.items()), _FILES, entries)


def _tensors(names: tuple[str, ...], element: str, compute: str) -> tuple[Parameter, ...]:
    """Return the parameters of an entry's tensors."""
    return taken(*(tensor(name, compute if name == "partial" else element) for name in names))
