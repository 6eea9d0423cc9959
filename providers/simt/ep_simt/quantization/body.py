"""Quantizing: the body of Quantize and Dequantize, a walk over scale, zero point, x and out."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep.layout.dims import merge
from ep_primitives import Quantize

from ep_simt.body import Body
from ep_simt.dialect import text
from ep_simt.elements import ELEMENTS, kind_of
from ep_simt.elementwise.visit import Layout, long_rows
from ep_simt.mathematics import mathematics
from ep_simt.packs import pack_words, spread_of
from ep_simt.plan import Launch, Operand, Plan
from ep_simt.program import Entry, Program, access, taken, tensor

if TYPE_CHECKING:
    from ep.work.key import KernelKey
    from ep_primitives.families.quantization.descriptor import Piece

    import ep
    from ep_simt.target import Target

__all__ = ["Quantizing"]

_LOOPS: Final = ("dialect/packs.h", "elementwise/loops.h")
_NAMES: Final = ("scale", "zero_point", "x", "out")
"""The operands in the order of the walk: first those that may stay where they are."""
_PLACES: Final = (1, 2, 0, 3)
"""Of these among the tensors of a launch."""
_FORMS: Final = {"from_zero": "tst", "from_point": "ttt"}
"""Entries without and with a zero point, and of scale, zero point and x a letter each: t for a tensor, s for none."""


class _Variant(NamedTuple):
    """The properties that decide a program; types as called in C after `ep_`.

    elements : of _NAMES
    """

    family: str
    elements: tuple[str, ...]
    compute: str
    wide: bool
    target: Target


class Quantizing(Body):
    """One launch, or two where blocks leave a rest; a family's own text says what an element becomes."""

    def __init__(self, descriptor: type[ep.Descriptor]) -> None:
        """Take the kind of descriptor."""
        self.descriptor = descriptor

    def rounds(self, key: KernelKey) -> bool:
        return self.descriptor is Quantize and key.compute == "float32"

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        return (_entry(key),)

    def program(self, key: KernelKey, target: Target) -> Program:
        return _program(_Variant(key.family, _elements(key), ELEMENTS[key.compute], key.wide, target))

    def plan(self, descriptor: Any, target: Target) -> Plan:
        pieces = descriptor.pieces(descriptor.scale, descriptor.zero_point)
        return Plan(tuple(_launch(descriptor.key, piece, target) for piece in pieces))


def _entry(key: KernelKey) -> str:
    return f"{key.family}_{'from_point' if key.dtypes[2] else 'from_zero'}"


def _elements(key: KernelKey) -> tuple[str, ...]:
    """Return those of _NAMES; a zero point has that of the tensor of integers."""
    x, scale, _, out = (ELEMENTS.get(dtype, "") for dtype in key.dtypes)
    return scale, x if kind_of(x) == "INTEGER" else out, x, out


def _launch(key: KernelKey, piece: Piece, target: Target) -> Launch:
    """Return the launch over a piece; without a zero point, scale's steps stand for those of one."""
    x, scale, zero_point, out = piece
    specs = scale, zero_point or scale, x, out
    space = long_rows(merge(out, specs), target)
    spread = spread_of(_elements(key), target)
    visit = Layout(strided=True, wide=key.wide).visit(space, target, spread=spread)
    operands = [
        Operand(place, spec.itemsize, spec.offset)
        for name, place, spec in zip(_NAMES, _PLACES, specs, strict=True)
        if zero_point or name != "zero_point"
    ]
    return Launch(_entry(key), visit.items, 0, (*operands, *visit.arguments))


@functools.lru_cache(maxsize=1024)
def _program(variant: _Variant) -> Program:
    """Return the program of a variant."""
    family, elements, compute, wide, target = variant
    kernels, own = "quantization/quantization.inc", f"families/{family}/{family}.inc"
    named = tuple(zip(_NAMES, elements, strict=True))
    tensors: dict[str, str | None] = dict(named)
    integers, out = elements[1], elements[-1]
    signed, bits = integers[0] == "i", int(integers[1:])
    words: dict[str, object] = {
        **target.rounding_words(compute),
        "EP_C": f"ep_{out if kind_of(out) == 'INTEGER' else compute}",
        "EP_F": f"ep_{compute}",
        "EP_INTEGER": f"ep_{integers}",
        "EP_LEAST": -(1 << bits - 1) if signed else 0,
        "EP_GREATEST": (1 << bits - signed) - 1,
        "EP_WIDE": int(wide),
        **pack_words(tensors, _FORMS.values(), spread_of(elements, target)),
        "EP_ENTRY(which)": f"{family}_##which",
    }
    for name, element in named:
        words |= access(name, element)
    layout = Layout(strided=True, wide=wide).parameters
    entries = tuple(
        Entry(
            f"{family}_{which}",
            taken(*(tensor(*operand) for operand, how in zip(named, f"{form}t", strict=True) if how == "t"), layout),
            f"EP_TAKES_{which}",
        )
        for which, form in _FORMS.items()
    )
    return Program(
        "-".join((family, *elements, "wide" if wide else "narrow")),
        tuple(words.items()),
        (*mathematics(text(own), compute), *_LOOPS, own, kernels),
        entries,
    )
