"""TopK: a group of work-items a row, which find the worst of the chosen digit by digit, then all that are no worse."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_primitives import TopK

import ep
from ep_simt.body import BitwiseBody, Body
from ep_simt.plan import Launch, Plan, operands_of
from ep_simt.program import Entry, Program, access, number, taken, tensor
from ep_simt.rows.geometry import packed_rows, rows_parameter, rows_words

if TYPE_CHECKING:
    from ep.work.key import KernelKey

    from ep_simt.target import Target

__all__ = ["BODY"]

_NAMES: Final = TopK.roles.names
_FILES: Final = ("rows/rows.h", "families/top_k/top_k.inc")
_DIGIT_BITS: Final = {False: 4, True: 2}
"""Each work-item counts each digit in shared memory: 64 bytes of it, whether indices are wide or not."""


class _Variant(NamedTuple):
    """The properties that decide a program.

    bits      : of an element
    kind      : of its type
    exponent  : bits of a float's exponent, else 0
    """

    bits: int
    kind: str
    exponent: int
    wide: bool
    group: int


class _TopK(BitwiseBody):
    """One launch. Elements are bits, which the device need not compute with; it sorts the indices, in place."""

    descriptor = TopK
    entry: Final = ("top_k",)

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        del key
        return self.entry

    def program(self, key: KernelKey, target: Target) -> Program:
        held = ep.dtype(key.dtypes[0])
        return _program(_Variant(8 * held.itemsize, held.kind, held.exponent, key.wide, target.group))

    def plan(self, descriptor: TopK, target: Target) -> Plan:
        across = descriptor.across
        operands = operands_of(descriptor, across.offsets)
        strides = [(*own, step) for own, step in zip(across.strides, descriptor.steps, strict=True)]
        shape = (*across.shape, descriptor.extent)
        rows = packed_rows(shape, strides, len(across.shape), wide=descriptor.key.wide)
        numbers = descriptor.k, int(descriptor.op == "smallest"), int(descriptor.sorted)
        items = across.size * target.group
        return Plan((Launch(*self.entry, items, target.group, (*operands, *numbers, rows)),))


BODY: Final[Body] = _TopK()


@functools.cache
def _program(variant: _Variant) -> Program:
    """Return the program of a variant."""
    bits, kind, exponent, wide, group = variant
    stored = f"u{bits}"
    elements = dict(zip(_NAMES, (stored, stored, "i64"), strict=True))
    wanted = f"ep_u{max(bits, 32)}"
    words: dict[str, Any] = {
        "EP_HAS_F64": 0,
        "EP_STORED": f"ep_{stored}",
        "EP_K": wanted,
        "EP_BITS": bits,
        "EP_SIGN": f"(({wanted})1 << {bits - 1})",
        "EP_INFINITY": f"(({wanted}){2**exponent - 1} << {bits - 1 - exponent})",
        "EP_FLOATING": int(kind == "f"),
        "EP_SIGNED": int(kind == "i"),
        "EP_BOOLEAN": int(kind == "b"),
        "EP_DIGIT_BITS": _DIGIT_BITS[wide],
        "EP_DIGITS": 2 ** _DIGIT_BITS[wide],
        **rows_words(len(elements), group, wide=wide),
    }
    for name, element in elements.items():
        words |= access(name, element)
    parameters = taken(
        *(tensor(name, element) for name, element in elements.items()),
        (number("k", "i64"), number("smallest", "i32"), number("sorted", "i32")),
        (rows_parameter(len(elements), wide=wide),),
    )
    entry = Entry("top_k", parameters, writes=frozenset({"values", "indices"}))
    name = f"top_k-{kind}{bits}{exponent or ''}-{'wide' if wide else 'narrow'}-{group}"
    return Program(name, tuple(words.items()), _FILES, (entry,))
