"""Norms row by row: the body of LayerNorm and of those whose rows are rows of a LayerNorm. Work-items share a row, and hold it where they can."""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_primitives import LayerNorm

import ep
from ep_simt.body import Body
from ep_simt.elements import ELEMENTS, nbytes_of
from ep_simt.packs import held_of, pack_words, spread_of
from ep_simt.plan import Launch, Plan, operands_of
from ep_simt.program import Entry, Program, access, number, taken, tensor
from ep_simt.rows.geometry import packed_rows, rows_parameter, rows_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ep.work.key import KernelKey

    from ep_simt.target import Target

__all__ = ["Norm", "NormRows", "are_neighbours"]

_NAMES: Final = LayerNorm.roles.names
_ABSENT: Final = {
    "EP_LOAD_scale(i)": "1",
    "EP_LOAD_bias(i)": "0",
    "EP_STORE_mean(i, value)": "",
    "EP_STORE_rstd(i, value)": "",
}
_COLUMNS: Final = 4
_FILES: Final = (
    "rows/rows.h",
    "rows/fold.h",
    "rows/chain.h",
    "dialect/packs.h",
    "families/layer_norm/layer_norm.inc",
)


class Norm(Body):
    """One launch: sums over each row, then its elements."""

    def rounds(self, key: KernelKey) -> bool:
        return key.compute == "float32"

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        return (key.family,)

    def program(self, key: KernelKey, target: Target) -> Program:
        given = dict(zip(self.descriptor.roles.names, key.dtypes, strict=True))
        elements = tuple(ELEMENTS.get(given.get(name, ""), "") for name in _NAMES)
        return _program(_Variant(key.family, elements, ELEMENTS[key.compute], key.wide, target))

    def plan(self, descriptor: Any, target: Target) -> Plan:
        operands = operands_of(descriptor, descriptor.geometry.offsets)
        rows = self.rows(descriptor)
        return Plan((rows.launch(descriptor.key, target, *operands, descriptor.epsilon),))

    @abstractmethod
    def rows(self, descriptor: Any) -> NormRows:
        """Return how the rows of a descriptor lie."""


class NormRows(NamedTuple):
    """How rows lie.

    shape, columns, first : as packed_rows takes them
    is_plain              : True if the elements of a row are neighbours in each tensor that has them; of channels, in x and y
    """

    shape: Sequence[int]
    columns: Sequence[Sequence[int]]
    first: int
    is_plain: bool

    def launch(self, key: KernelKey, target: Target, *arguments: Any) -> Launch:
        """Return the launch over all rows, with the arguments before those that say how they lie."""
        rows, extent = math.prod(self.shape[: self.first]), math.prod(self.shape[self.first :])
        span = _span(extent, held_of(ep.dtype(key.compute).itemsize), target)
        items = -(-rows * span // target.group) * target.group
        packed = packed_rows(self.shape, self.columns, self.first, wide=key.wide)
        return Launch(key.family, items, target.group, (*arguments, int(self.is_plain), span, packed))


def are_neighbours(own: Iterable[Sequence[int]]) -> bool:
    """Return True if the elements of a row are neighbours; own : the strides of its merged dimensions in each tensor."""
    return all(tuple(strides) == (1,) for strides in own)


def _span(extent: int, held: int, target: Target) -> int:
    """Return the work-items of a row, a power of two: as many as hold it, if a group does."""
    return min(target.group, 1 << (max(extent - 1, 0) // held).bit_length())


class _Variant(NamedTuple):
    """The properties that decide a program.

    entry     : layer_norm; rms_layer_norm, whose rows have 0 for their mean; group_norm, whose rows are made of channels
    elements  : of every operand of LayerNorm, as called in C after `ep_`, "" for an absent one
    """

    entry: str
    elements: tuple[str, ...]
    compute: str
    wide: bool
    target: Target


@functools.lru_cache(maxsize=1024)
def _program(variant: _Variant) -> Program:
    """Return the program of a variant."""
    entry, elements, compute, wide, target = variant
    x, _, _, y, _, _ = elements
    present = [(name, element) for name, element in zip(_NAMES, elements, strict=True) if element]
    words: dict[str, Any] = {
        **_ABSENT,
        **target.rounding_words(compute),
        "EP_C": f"ep_{compute}",
        "EP_OF(name)": f"name##_{compute}",
        "EP_ENTRY": entry,
        "EP_CENTRED": int(entry != "rms_layer_norm"),
        "EP_CHANNELS": int(entry == "group_norm"),
        "EP_HELD": held_of(nbytes_of(compute)),
        **pack_words({"x": x, "y": y}, (), spread_of((x, y), target)),
        **rows_words(_COLUMNS, target.group, wide=wide),
    }
    for name, element in present:
        words |= access(name, element)
    parameters = taken(
        *(tensor(name, element) for name, element in present),
        (
            number("epsilon", compute),
            number("plain", "i32"),
            number("span", "i32"),
            rows_parameter(_COLUMNS, wide=wide),
        ),
    )
    name = "-".join(
        (entry, *(element or "none" for element in elements), "wide" if wide else "narrow", str(target.group))
    )
    only = Entry(entry, parameters, writes=frozenset({"y", "mean", "rstd"}))
    return Program(name, tuple(words.items()), _FILES, (only,))
