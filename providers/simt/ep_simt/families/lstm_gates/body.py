"""LstmGates: h_next and c_next of the gates i, o, f and g."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives.families.recurrent_cell.stages.lstm import LstmGates

from ep_simt.cells.body import Cell

if TYPE_CHECKING:
    from ep_simt.body import Body

__all__ = ["BODY"]


class _LstmGates(Cell):
    descriptor = LstmGates
    activations = ("GATE", "CANDIDATE", "OUTPUT")


BODY: Final[Body] = _LstmGates()
