"""GruReset: h times the gate s."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives.families.recurrent_cell.stages.gru import GruReset

from ep_simt.cells.body import Cell

if TYPE_CHECKING:
    from ep_simt.body import Body

__all__ = ["BODY"]


class _GruReset(Cell):
    descriptor = GruReset
    activations = ("GATE",)


BODY: Final[Body] = _GruReset()
