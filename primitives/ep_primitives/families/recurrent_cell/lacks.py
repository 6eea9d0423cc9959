"""Data that the cases of GruCell, LstmCell do not have, with the reasons."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.lack import Lack, Ranks

__all__ = ["LACKS", "RANKS"]

LACKS: Final = (
    Lack("lstm_cell", "parts", "which tree a product takes is the provider's choice, of parts of it, too"),
    Lack("gru_cell", "parts", "which tree a product takes is the provider's choice, of parts of it, too"),
)

RANKS: Final = (Ranks("lstm_cell", least=1, most=2), Ranks("gru_cell", least=1, most=2))
