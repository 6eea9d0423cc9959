"""Passes: how a program takes the measures of rows, by rows.inc and totals.inc, and its launches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_simt.elements import nbytes_of
from ep_simt.families.softmax.cut import Room
from ep_simt.packs import pack_words, spread_of
from ep_simt.plan import Launch, Operand
from ep_simt.program import Entry, access, number, taken, tensor
from ep_simt.rows.geometry import rows_parameter, rows_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_simt.families.softmax.cut import Cut
    from ep_simt.target import Target

__all__ = ["ELEMENTS", "FILES", "MEASURES", "OF_ROWS", "PASSES", "WHOLE_ROWS", "PassLaunches", "Passes", "untouched"]

FILES: Final = ("rows/rows.h", "rows/fold.h", "rows/chain.h", "dialect/packs.h", "families/softmax/tile.h")
"""Before the formulas."""
PASSES: Final = ("families/softmax/rows.inc", "families/softmax/totals.inc")
"""After the formulas."""
WHOLE_ROWS, MEASURES, ELEMENTS = range(3)
"""Tasks of a launch, as rows.inc calls them."""
_OF_PIECES: Final = ("piece_largest", "piece_sum")
OF_ROWS: Final = ("row_largest", "row_factor")
"""Measures, as programs call them."""
_LOWEST: Final = {"f32": "(-3.4028234663852886e+38f)", "f64": "(-1.7976931348623157e+308)"}


class Passes(NamedTuple):
    """The properties that decide the passes of a program; types as called in C after `ep_`.

    family   : of the entries
    inputs   : their number
    columns  : of the geometry, inputs first
    element  : of all operands
    compute  : of the values
    """

    family: str
    inputs: int
    columns: int
    element: str
    compute: str
    wide: bool
    target: Target

    def words(self, outputs: Sequence[str]) -> dict[str, Any]:
        """Return the words; outputs : names of what is made of each element. Without any the measures of rows are asked for."""
        room = Room.of(nbytes_of(self.compute), self.inputs, self.target)
        words: dict[str, Any] = {
            **self.target.rounding_words(self.compute),
            "EP_C": f"ep_{self.compute}",
            "EP_ENTRY(part)": f"{self.family}_##part",
            "EP_LOWEST": _LOWEST[self.compute],
            "EP_RELATIVE": int(self.inputs == 1),
            "EP_INPUTS": self.inputs,
            "EP_MAKES": int(bool(outputs)),
            "EP_PIECE": room.piece,
            "EP_HELD": room.held,
            "EP_MOST_CELLS": room.cells,
            **rows_words(self.columns, self.target.group, wide=self.wide),
        }
        tensors = dict.fromkeys((*self.names, *outputs), self.element)
        words |= pack_words(tensors, (), spread_of((self.element,), self.target))
        for name in tensors:
            words |= access(name, self.element)
        for name in (*_OF_PIECES, *OF_ROWS):
            words |= access(name, self.compute)
        return words

    def entries(self, outputs: Sequence[str]) -> tuple[Entry, Entry]:
        """Return those of rows.inc and totals.inc; outputs : as in `words`."""
        operands = taken(*(tensor(name, self.element) for name in (*self.names, *outputs)))
        measures = taken(*(tensor(name, self.compute) for name in (*_OF_PIECES, *OF_ROWS)))
        tail = (
            number("task", "i32"),
            *(number(name, "i64") for name in ("pieces", "count", "tiles", "run")),
            *(number(name, "i32") for name in ("chains", "most", "across")),
            rows_parameter(self.columns, wide=self.wide),
        )
        return (
            self._entry("rows", taken(operands, measures, tail), *_OF_PIECES, *(outputs or OF_ROWS)),
            self._entry("totals", taken(measures, (number("pieces", "i64"),)), *OF_ROWS),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The inputs, as rows.inc calls them."""
        return ("given", "other")[: self.inputs]

    def _entry(self, part: str, parameters: tuple[Any, ...], *writes: str) -> Entry:
        return Entry(f"{self.family}_{part}", parameters, f"EP_{part.upper()}_TAKES", frozenset(writes))


class PassLaunches(NamedTuple):
    """The launches of passes.

    number  : of rows
    packed  : the geometry
    """

    family: str
    target: Target
    cut: Cut
    number: int
    packed: bytes

    @property
    def size(self) -> int:
        """The number of all measures."""
        return 2 * (self.number + self._pieces)

    def measures(self, place: int, itemsize: int) -> tuple[Operand, ...]:
        """Return where they lie at the beginning of a memory: of pieces, if a row has several, then of rows."""
        starts = (0, self._pieces, 2 * self._pieces, 2 * self._pieces + self.number)
        return tuple(Operand(place, itemsize, start) for start in starts)

    def rows(self, task: int, *memories: Operand) -> Launch:
        """Return the launch that does a task; memories : operands, then measures."""
        cut = self.cut
        numbers = (cut.pieces, cut.tiles * cut.pieces, cut.tiles, cut.run, cut.chains, cut.most, int(cut.across))
        return self._launch("rows", cut.groups, *memories, task, *numbers, self.packed)

    def totals(self, *measures: Operand) -> Launch:
        """Return the launch that makes the measures of rows of those of pieces."""
        return self._launch("totals", self.number, *measures, self.cut.pieces)

    @property
    def _pieces(self) -> int:
        return self.number * self.cut.pieces if self.cut.pieces > 1 else 0

    def _launch(self, part: str, groups: int, *given: Any) -> Launch:
        return Launch(f"{self.family}_{part}", groups * self.target.group, self.target.group, given)


def untouched(operand: Operand) -> tuple[Operand, ...]:
    """Return an operand in place of all measures, for a launch that has none."""
    return (operand,) * len((*_OF_PIECES, *OF_ROWS))
