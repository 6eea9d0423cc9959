"""The families LogSoftmax, LogSoftmaxBackward, Softmax and SoftmaxBackward."""

from __future__ import annotations

from ep_primitives.families.softmax.backward import LogSoftmaxBackward, SoftmaxBackward
from ep_primitives.families.softmax.descriptor import LogSoftmax, Softmax

__all__ = ["LogSoftmax", "LogSoftmaxBackward", "Softmax", "SoftmaxBackward"]
