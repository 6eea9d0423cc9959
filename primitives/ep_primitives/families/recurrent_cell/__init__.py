"""The families GruCell and LstmCell."""

from __future__ import annotations

from ep_primitives.families.recurrent_cell.gru_cell import GruCell
from ep_primitives.families.recurrent_cell.lstm_cell import LstmCell

__all__ = ["GruCell", "LstmCell"]
