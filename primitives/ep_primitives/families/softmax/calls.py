"""Calls of LogSoftmax, LogSoftmaxBackward, Softmax, SoftmaxBackward that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep_primitives.cases.call import F32, Call, both
from ep_primitives.families.softmax import LogSoftmax, LogSoftmaxBackward, Softmax, SoftmaxBackward

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = [
    call
    for kind in (Softmax, LogSoftmax, SoftmaxBackward, LogSoftmaxBackward)
    for call in both(
        kind,
        kind.family,
        {**dict.fromkeys(kind.roles.names, F32), "axis": -1},
        {**dict.fromkeys(kind.roles.read, F32), "axis": 0},
    )
]
