"""The edge rules of GruCell and LstmCell, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "NaN",
        "lstm_cell; gru_cell",
        "in a row of h: that row; in a gate: its element, and in the output gate of an LSTM h_next alone",
        (
            "primitives/lstm_cell/-/float32/dense/not-finite",
            "primitives/gru_cell/-/float32/dense/not-finite",
            "primitives/gru_cell/-/float32/dense/not-finite-linear",
        ),
    ),
    EdgeRule(
        "infinities",
        "lstm_cell; gru_cell",
        "an infinite sum opens or closes its gate; 0 times a memory that is infinite is NaN",
        (
            "primitives/lstm_cell/-/float32/dense/saturated",
            "primitives/gru_cell/-/float32/dense/saturated",
            "primitives/lstm_cell/-/float32/dense/not-finite",
        ),
    ),
)
