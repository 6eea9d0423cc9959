"""Attention: one launch, a group a tile of queries; the scores stay in shared memory."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_primitives import Attention

import ep
from ep_simt.body import Body
from ep_simt.dialect import text
from ep_simt.elements import ELEMENTS
from ep_simt.families.attention.layout import PLACES, attention_parameter, packed_layout
from ep_simt.families.attention.tile import MOST_WORK_ITEMS, Tile, tile_of
from ep_simt.mathematics import mathematics
from ep_simt.plan import Launch, Plan, operands_of
from ep_simt.products import PRODUCTS
from ep_simt.program import Entry, Program, access, number, taken, tensor
from ep_simt.rows.geometry import rows_parameter, rows_words

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ep.work.key import KernelKey

    from ep_simt.target import Target

__all__ = ["BODY"]

_FILE: Final = "families/attention/attention.inc"
_ENTRY: Final = "attention_tiles"
_SCORES: Final = {False: "((product) * scale)", True: "(cap * EP_OF(hyperbolic_tangent)((product) * scale))"}
_FEWEST_QUERIES: Final = 16
"""With fewer a tile is empty for the most part, and products of rows read k and v as fast as they come."""


class _Attention(Body):
    """A program for each kind of mask, and with a softcap."""

    descriptor = Attention

    def refusal(self, descriptor: Attention) -> str:
        queries = descriptor.q.shape[-2]
        if not all(spec.size for spec in descriptor.given):
            return "attention: an operand has no elements"
        if queries < _FEWEST_QUERIES:
            return f"attention: {queries} queries are fewer than {_FEWEST_QUERIES}: products of rows are faster"
        return ""

    def rounds(self, key: KernelKey) -> bool:
        return key.compute == "float32"

    def special(self, descriptor: Attention) -> Hashable:
        return bool(descriptor.softcap)

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        del key
        return (_ENTRY,)

    def program(self, key: KernelKey, target: Target) -> Program:
        return _program(_variant(key, target))

    def plan(self, descriptor: Attention, target: Target) -> Plan:
        key = descriptor.key
        variant = _variant(key, target)
        tile, group = variant.tile, variant.group
        operands = operands_of(
            descriptor, [spec.offset if isinstance(spec, ep.TensorSpec) else 0 for spec in descriptor.specs]
        )
        cap = descriptor.softcap
        numbers = (descriptor.scale / (cap or 1), cap)
        tiles = -(-descriptor.q.shape[-2] // tile.rows) * -(-descriptor.v.shape[-1] // tile.columns)
        arguments = (*operands, *numbers, *packed_layout(descriptor, wide=key.wide))
        return Plan((Launch(_ENTRY, math.prod(descriptor.batch) * tiles * group, group, arguments),))


BODY: Final[Body] = _Attention()


class _Variant(NamedTuple):
    """The properties that decide a program; elements as called in C after `ep_`.

    mask  : "" without one
    """

    element: str
    mask: str
    compute: str
    is_capped: bool
    wide: bool
    target: Target

    @property
    def group(self) -> int:
        return min(self.target.group, MOST_WORK_ITEMS)

    @property
    def tile(self) -> Tile:
        return tile_of(self.group, 8 if self.compute == "f64" else 4)


def _variant(key: KernelKey, target: Target) -> _Variant:
    element, mask = ELEMENTS[key.dtypes[0]], key.dtypes[PLACES.index("mask")]
    return _Variant(element, ELEMENTS[mask] if mask else "", ELEMENTS[key.compute], bool(key.special), key.wide, target)


@functools.lru_cache(maxsize=256)
def _program(variant: _Variant) -> Program:
    """Return the program of a variant."""
    element, mask, compute, is_capped, wide, target = variant
    elements = {name: mask if name == "mask" else element for name in PLACES if mask or name != "mask"}
    score = _SCORES[is_capped]
    words: dict[str, Any] = {
        **target.rounding_words(compute),
        "EP_C": f"ep_{compute}",
        "EP_A": f"ep_{compute}",
        "EP_GIVEN": f"ep_{element}",
        "EP_PARTS": 1,
        "EP_PLUS(a, b)": "((a) + (b))",
        "EP_SCORE(product)": score,
        "EP_MASKS": int(bool(mask)),
        "EP_MASKS_CHOOSE": int(mask == "bool"),
        "EP_ROWS_EACH": variant.tile.rows if variant.group == 1 else 1,
        **rows_words(len(PLACES), variant.group, wide=wide),
        **variant.tile.words,
        **access("a", element),
    }
    for name, own in elements.items():
        words |= access(name, own)
    parameters = taken(
        *(tensor(name, own) for name, own in elements.items()),
        (number("scale", compute), number("cap", compute)),
        (attention_parameter(wide=wide), rows_parameter(len(PLACES), wide=wide)),
    )
    called = mathematics(text(_FILE) + score, compute)
    own = f"{mask or 'no'}-mask{'-capped' * is_capped}"
    name = f"attention-{element}-{own}-{'wide' if wide else 'narrow'}-{variant.group}"
    return Program(
        name,
        tuple(words.items()),
        (*called, "rows/rows.h", "rows/fold.h", *PRODUCTS, _FILE),
        (Entry(_ENTRY, parameters),),
    )
