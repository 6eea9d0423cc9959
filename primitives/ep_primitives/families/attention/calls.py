"""Calls of Attention that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.call import F32, Call, both
from ep_primitives.families.attention import Attention

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    Attention,
    "attention",
    {
        "q": TensorSpec("float32", (2, 4, 3)),
        "k": TensorSpec("float32", (1, 5, 3)),
        "v": TensorSpec("float32", (1, 5, 6)),
        "mask": TensorSpec("bool", (4, 5)),
        "out": TensorSpec("float32", (2, 4, 6)),
        "scale": 0.5,
        "softcap": 3.0,
        "is_causal": True,
        "offset": 1,
    },
    {"q": F32, "k": F32, "v": F32, "mask": TensorSpec("float32", (4,)), "softcap": 1.0, "is_causal": False},
)
