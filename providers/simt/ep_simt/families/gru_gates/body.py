"""GruGates: h_next of the gates z and s and the candidate n."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives.families.recurrent_cell.stages.gru import GruGates

from ep_simt.cells.body import Cell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_simt.body import Body

__all__ = ["BODY"]


class _GruGates(Cell):
    descriptor = GruGates
    activations = ("GATE", "CANDIDATE")

    def words(self, parts: tuple[str, ...]) -> Mapping[str, object]:
        return {"EP_RESETS": int(parts == ("reset",))}


BODY: Final[Body] = _GruGates()
