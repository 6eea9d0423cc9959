"""Iota: over the loops of `elementwise`, whose first operand is the place along the axis, which no kernel reads."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_primitives import Iota

import ep
from ep_simt.bits import unsigned
from ep_simt.body import Body
from ep_simt.elements import ELEMENTS, has_doubles, kind_of
from ep_simt.elementwise.visit import Layout, as_written, long_rows
from ep_simt.plan import Given, Launch, Made, Operand, Plan
from ep_simt.program import Entry, Program, access, number, taken, tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep.layout.dims import Geometry
    from ep.work.key import KernelKey

    from ep_simt.target import Target

__all__ = ["BODY"]

_FILES: Final = ("elementwise/loops.h", "families/iota/iota.inc")
_NUMBERS: Final = 2


class _Variant(NamedTuple):
    """The properties that decide a program.

    element  : of out, as called in C after `ep_`; integers are unsigned, because all wrap
    compute  : of the numbers and the arithmetic
    """

    element: str
    compute: str
    wide: bool


class _Iota(Body):
    """One launch, in the order of out's strides."""

    descriptor = Iota

    def needs(self, key: KernelKey) -> tuple[str, ...]:
        # Integers and narrow floats are computed with as words and float32, which every device has.
        return tuple(dtype for dtype in key.dtypes[-1:] if dtype == "float64")

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        del key
        return ("iota",)

    def program(self, key: KernelKey, target: Target) -> Program:
        del target
        return _program(_variant(key))

    def plan(self, descriptor: Iota, target: Target) -> Plan:
        key, out = descriptor.key, descriptor.out
        visit = Layout(strided=True, wide=key.wide).visit(long_rows(_places(descriptor.geometry), target), target)
        numbers = (Given(0), Given(1)) if kind_of(ELEMENTS[out.dtype]) == "FLOATING" else (Made(_wrap(key), _NUMBERS),)
        (entry,) = self.entries(key)
        first = Operand(0, out.itemsize, descriptor.geometry.offsets[-1])
        return Plan((Launch(entry, visit.items, 0, (first, *numbers, *visit.arguments)),))


BODY: Final[Body] = _Iota()


def _variant(key: KernelKey) -> _Variant:
    dtype = key.dtypes[-1]
    wide = key.wide
    if kind_of(ELEMENTS[dtype]) == "FLOATING":
        return _Variant(ELEMENTS[dtype], ELEMENTS[key.compute], wide)
    return _Variant(unsigned(dtype), "u64" if ep.dtype(dtype).itemsize == 8 else "u32", wide)  # noqa: PLR2004 - bytes


def _wrap(key: KernelKey) -> Callable[[tuple[Any, ...]], tuple[int, ...]]:
    """Return the function that makes unsigned integers of the numbers of a launch, modulo the compute type's size."""
    mask = (1 << int(_variant(key).compute[1:])) - 1
    return lambda scalars: tuple(value & mask for value in scalars)


def _places(space: Geometry) -> Geometry:
    """Return the space of the places along the axis, its last dimension, and of out, in the order of out's strides."""
    out = space.strides[-1]
    places = tuple(int(axis == len(out) - 1) for axis in range(len(out)))
    return as_written(space._replace(strides=(places, out)))


@functools.cache
def _program(variant: _Variant) -> Program:
    """Return the program of a variant."""
    element, compute, wide = variant
    is_floating = kind_of(compute) == "FLOATING"
    words: dict[str, object] = {
        "EP_HAS_F64": int(has_doubles((compute,))),
        "EP_WIDE": int(wide),
        "EP_C": f"ep_{compute}",
        "EP_STORED": f"ep_{compute if is_floating else element}",
        **access("out", element),
    }
    numbers = number("start", compute), number("step", compute)
    walk = Layout(strided=True, wide=wide).parameters
    entry = Entry("iota", taken(tensor("out", element), numbers, walk))
    return Program(f"iota-{element}-{'wide' if wide else 'narrow'}", tuple(words.items()), _FILES, (entry,))
