"""Calls of GruCell, LstmCell that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.call import F32, Call, both
from ep_primitives.families.recurrent_cell import GruCell, LstmCell

__all__ = ["CALLS"]

LSTM: Final = {"gates": TensorSpec("float32", (4, 12)), "h": F32, "c": F32, "r": TensorSpec("float32", (12, 3))}
GRU: Final = {"gates": TensorSpec("float32", (4, 9)), "h": F32, "r": TensorSpec("float32", (9, 3))}

CALLS: Final[list[Call]] = [
    *both(
        LstmCell,
        "lstm_cell",
        LSTM | {"peephole": TensorSpec("float32", (9,)), "h_next": F32, "c_next": F32, "gate_activation": "relu"},
        LSTM | {"c_next": F32, "output_activation": "sigmoid"},
    ),
    *both(
        GruCell,
        "gru_cell",
        GRU | {"bias": TensorSpec("float32", (9,)), "h_next": F32, "linear_before_reset": True},
        GRU | {"linear_before_reset": False, "candidate_activation": "relu"},
    ),
]
