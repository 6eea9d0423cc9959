"""RandomFill: one program for each way that an element is stored, with all its distributions as entries."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final, NamedTuple

from ep_primitives import RandomFill
from ep_primitives.families.random_fill.rows import words_each

from ep_simt.bits import unsigned
from ep_simt.body import Body
from ep_simt.dialect import text
from ep_simt.elementwise.visit import Layout
from ep_simt.mathematics import mathematics
from ep_simt.plan import Launch, Made, Operand, Plan
from ep_simt.program import Entry, Program, access, number, taken, tensor

if TYPE_CHECKING:
    from ep.work.key import KernelKey

    from ep_simt.target import Target

__all__ = ["BODY"]

_FLOATS: Final = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
_UNIFORM_BITS: Final = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
_FOLDER: Final = "families/random_fill"
_FILES: Final = ("elementwise/loops.h", f"{_FOLDER}/philox.h", f"{_FOLDER}/random_fill.inc")

_WORD: Final = 8
_BLOCK: Final = 4
"""Words of one block of random numbers: a work-item takes at least so many elements."""

_ADVANCE: Final = "random_fill_advance"


class _Variant(NamedTuple):
    """The properties that decide a program.

    element  : of the output, as called in C after `ep_`; integers are unsigned, because all wrap
    each     : words that an element takes
    """

    element: str
    each: int
    layout: Layout


class _RandomFill(Body):
    """The fill, and after it the entry that advances the state: all work-items of the fill read it."""

    descriptor = RandomFill

    def needs(self, key: KernelKey) -> tuple[str, ...]:
        # Numbers are made of words, and stored as any element type; only float64 is computed with.
        return tuple(dtype for dtype in key.dtypes if dtype == "float64")

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        return f"random_fill_{key.op}", _ADVANCE

    def program(self, key: KernelKey, target: Target) -> Program:
        del target
        dtype = key.dtypes[-1]
        element = "bool" if dtype == "bool" else _FLOATS.get(dtype) or unsigned(dtype)
        return _program(_Variant(element, words_each(dtype), Layout.of(key)))

    def plan(self, descriptor: RandomFill, target: Target) -> Plan:
        space, out = descriptor.geometry, descriptor.out
        fill, advance = self.entries(descriptor.key)
        visit = Layout.of(descriptor.key).visit(
            space._replace(strides=space.strides[-1:], offsets=space.offsets[-1:]), target, _BLOCK
        )
        state = Operand(0, _WORD)
        filling = (state, Operand(1, out.itemsize, space.offsets[-1]), Made(descriptor.limits, 2), *visit.arguments)
        return Plan((Launch(fill, visit.items, 0, filling), Launch(advance, 1, 1, (state, descriptor.words))))


BODY: Final[Body] = _RandomFill()


@functools.cache
def _program(variant: _Variant) -> Program:
    """Return the program of a variant."""
    element, each, layout = variant
    state, limits = tensor("state", "u64"), [number(name, "u64") for name in ("low", "bound")]
    parameters = taken(state, tensor("out", element), limits, layout.parameters)
    advance = Entry(_ADVANCE, (*state, number("words", "u64")), "EP_ADVANCE_TAKES", frozenset({"state"}))
    fills = [Entry(f"random_fill_{op}", parameters) for op in _ops(element)]
    words = {**layout.words, **_words(element, each)}
    called = mathematics(text(_FILES[-1]), _compute(element)) if element in _UNIFORM_BITS else ()
    return Program(f"random_fill-{element}-{layout.name}", tuple(words.items()), (*called, *_FILES), (*fills, advance))


def _ops(element: str) -> tuple[str, ...]:
    """Return the distributions of an element type."""
    if element == "bool":
        return ("bernoulli",)
    return ("uniform", "normal") if element in _UNIFORM_BITS else ("words", "integers")


def _compute(element: str) -> str:
    """Return the type that numbers of an element type are computed in."""
    return element if element == "f64" or element not in _UNIFORM_BITS else "f32"


def _words(element: str, each: int) -> dict[str, object]:
    is_floating = element in _UNIFORM_BITS
    compute = _compute(element)
    words: dict[str, object] = {
        "EP_HAS_F64": int(element == "f64"),
        "EP_EACH": each,
        "EP_ELEMENT": f"ep_{element}",
        **access("out", element),
        "EP_SHARE": f"ep_share_u{32 * each}",
        "EP_C": f"ep_{compute}",
        "EP_FLOATING": int(is_floating),
        "EP_BOOLEAN": int(element == "bool"),
        "EP_INTEGER": int(not is_floating and element != "bool"),
    }
    if is_floating:
        normal_bits = 52 if each > 1 else 32
        words |= {
            "EP_SIGNED": f"ep_i{32 * each}",
            "EP_BITS": _UNIFORM_BITS[element],
            "EP_STEP": _power_of_half(_UNIFORM_BITS[element], compute),
            "EP_NORMAL_BITS": normal_bits,
            "EP_NORMAL_STEP": _power_of_half(normal_bits, compute),
        }
    return words


def _power_of_half(exponent: int, compute: str) -> str:
    return f"{2.0**-exponent!r}{'f' if compute == 'f32' else ''}"
