"""Softmaxes: the body of softmaxes and of their backward forms, which differ in their formulas alone."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ep
from ep_simt.body import Body
from ep_simt.dialect import text
from ep_simt.elements import ELEMENTS
from ep_simt.families.softmax.cut import Cut, Room
from ep_simt.mathematics import mathematics
from ep_simt.packs import pack_words, spread_of
from ep_simt.plan import Launch, Operand, Plan, operands_of
from ep_simt.program import Entry, Parameter, Program, access, number, taken, tensor
from ep_simt.rows.geometry import packed_rows, rows_parameter, rows_words

if TYPE_CHECKING:
    from ep.work.key import KernelKey

    from ep_simt.target import Target

__all__ = ["Softmaxes"]

_PARTS: Final = ("rows", "totals")
_WHOLE, _PIECES, _ELEMENTS = range(3)
"""Tasks of a launch, as rows.inc calls them."""
_FILES: Final = ("rows/rows.h", "rows/fold.h", "rows/chain.h", "dialect/packs.h", "families/softmax/tile.h")
_PASSES: Final = "families/softmax/rows.inc"
_LOWEST: Final = {"f32": "(-3.4028234663852886e+38f)", "f64": "(-1.7976931348623157e+308)"}
_MEASURES: Final = ("piece_largest", "piece_sum", "row_largest", "row_factor")
_FORWARD: Final = 2


class Softmaxes(Body):
    """One launch for rows that a group holds, three for longer ones: measures of their pieces, of the rows, and the elements."""

    def __init__(self, descriptor: type[ep.Descriptor]) -> None:
        """Take the kind of descriptor."""
        self.descriptor = descriptor

    def rounds(self, key: KernelKey) -> bool:
        return key.family == "softmax" and key.compute == "float32"

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        return tuple(f"{key.family}_{part}" for part in _PARTS)

    def program(self, key: KernelKey, target: Target) -> Program:
        inputs = len(key.dtypes) - 1
        return _program(_Variant(key.family, inputs, ELEMENTS[key.dtypes[0]], ELEMENTS[key.compute], key.wide, target))

    def plan(self, descriptor: Any, target: Target) -> Plan:
        space, key = descriptor.geometry, descriptor.key
        if not space.size:
            return Plan(())
        itemsize = ep.dtype(key.compute).itemsize
        cut = Cut.of(space.shape, space.strides, itemsize, target)
        rows = math.prod(space.shape[:-1])
        packed = packed_rows(space.shape, space.strides, len(space.shape) - 1, wide=key.wide)
        operands = operands_of(descriptor, space.offsets)
        tail = (cut.pieces, cut.tiles * cut.pieces, cut.tiles, cut.run, cut.chains, cut.most, int(cut.across), packed)

        def launch(part: str, groups: int, *arguments: Any) -> Launch:
            return Launch(f"{key.family}_{part}", groups * target.group, target.group, arguments)

        if cut.pieces == 1:
            measures = (Operand(operands[-1].place, itemsize),) * len(_MEASURES)  # none: not touched
            return Plan((launch("rows", cut.groups, *operands, *measures, _WHOLE, *tail),))
        every = rows * cut.pieces
        starts = (0, every, 2 * every, 2 * every + rows)
        measures = tuple(Operand(len(descriptor.tensors), itemsize, start) for start in starts)
        launches = (
            launch("rows", cut.groups, *operands, *measures, _PIECES, *tail),
            launch("totals", rows, *measures, cut.pieces),
            launch("rows", cut.groups, *operands, *measures, _ELEMENTS, *tail),
        )
        return Plan(launches, 2 * (every + rows) * itemsize)


class _Variant(NamedTuple):
    """The properties that decide a program.

    inputs   : their number
    element  : of all operands, as called in C after `ep_`
    compute  : of the values
    """

    family: str
    inputs: int
    element: str
    compute: str
    wide: bool
    target: Target


@functools.lru_cache(maxsize=1024)
def _program(variant: _Variant) -> Program:
    """Return the program of a variant."""
    family, inputs, element, compute, wide, target = variant
    room = Room.of(8 if compute == "f64" else 4, inputs, target)
    formulas = f"families/{family}/{family}.inc"
    is_relative = inputs < _FORWARD
    words: dict[str, Any] = {
        **target.rounding_words(compute),
        "EP_C": f"ep_{compute}",
        "EP_ENTRY(part)": f"{family}_##part",
        "EP_LOWEST": _LOWEST[compute],
        "EP_RELATIVE": int(is_relative),
        "EP_PIECE": room.piece,
        "EP_HELD": room.held,
        "EP_MOST_CELLS": room.cells,
        **rows_words(inputs + 1, target.group, wide=wide),
    }
    names = ("given", "other")[:inputs]
    tensors = dict.fromkeys((*names, "out"), element)
    words |= pack_words(tensors, (), spread_of((element,), target))
    for name in tensors:
        words |= access(name, element)
    for name in _MEASURES:
        words |= access(name, compute)
    given = taken(*(tensor(name, element) for name in names))
    measures = taken(*(tensor(name, compute) for name in _MEASURES))
    tail = (
        number("task", "i32"),
        *(number(name, "i64") for name in ("pieces", "count", "tiles", "run")),
        *(number(name, "i32") for name in ("chains", "most", "across")),
        rows_parameter(inputs + 1, wide=wide),
    )
    entries = (
        _entry(family, "rows", taken(given, tensor("out", element), measures, tail), "out", *_MEASURES[:2]),
        _entry(family, "totals", taken(measures, (number("pieces", "i64"),)), *_MEASURES[2:]),
    )
    source = text(formulas) + text(_PASSES)
    name = f"{family}-{element}-{'wide' if wide else 'narrow'}-{target.group}"
    return Program(name, tuple(words.items()), (*mathematics(source, compute), *_FILES, formulas, _PASSES), entries)


def _entry(family: str, part: str, parameters: tuple[Parameter, ...], *writes: str) -> Entry:
    return Entry(f"{family}_{part}", parameters, f"EP_{part.upper()}_TAKES", frozenset(writes))
