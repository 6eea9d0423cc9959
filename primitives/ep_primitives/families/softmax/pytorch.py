"""LogSoftmax, LogSoftmaxBackward, Softmax and SoftmaxBackward in PyTorch, a second opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["EXPRESSIONS"]


def _softmax(descriptor: Any, x: Tensor) -> Tensor:
    return torch.softmax(x, descriptor.axis)


def _log_softmax(descriptor: Any, x: Tensor) -> Tensor:
    return torch.log_softmax(x, descriptor.axis)


def _softmax_backward(descriptor: Any, dy: Tensor, y: Tensor) -> Tensor:
    return torch.ops.aten._softmax_backward_data(dy, y, descriptor.axis, y.dtype)  # noqa: SLF001 - its only name


def _log_softmax_backward(descriptor: Any, dy: Tensor, y: Tensor) -> Tensor:
    return torch.ops.aten._log_softmax_backward_data(dy, y, descriptor.axis, y.dtype)  # noqa: SLF001 - its only name


EXPRESSIONS: Final = {
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "softmax_backward": _softmax_backward,
    "log_softmax_backward": _log_softmax_backward,
}
