"""Plain kernels of softmax, norms and losses: a group a row, which reads its row two or three times."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import ep
from ep_benchmarks.peers.opencl.plain.launch import Work, over, parameters, row_launch
from ep_benchmarks.peers.opencl.plain.reduced import joined

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_benchmarks.peers.opencl.plain.launch import Form

__all__ = ["FORMS"]

_MATRIX: Final = 2
"""The rank of rows of classes."""
_BACKWARD: Final = {
    "softmax_backward": {"TERM": "DY(i) * Y(i)", "RESULT": "(DY(i) - sum) * Y(i)"},
    "log_softmax_backward": {"TERM": "DY(i)", "RESULT": "DY(i) - exp(Y(i)) * sum"},
}


def _softmax(descriptor: Any) -> Work | None:
    return _rows(descriptor, descriptor.family, descriptor.out.shape[descriptor.axis :], {})


def _softmax_backward(descriptor: Any) -> Work | None:
    shape = descriptor.out.shape[descriptor.axis :]
    return _rows(descriptor, "softmax_backward", shape, _BACKWARD[descriptor.family])


def _layer_norm(descriptor: Any) -> Work | None:
    words = {"EPSILON": descriptor.epsilon, "CHANNEL": "i"}
    return _rows(descriptor, descriptor.family, descriptor.x.shape[descriptor.axis :], words)


def _group_norm(descriptor: Any) -> Work | None:
    """Return the kernel of layers, whose rows are the groups of channels of each image."""
    x, groups = descriptor.x, descriptor.groups
    channels, elements = x.shape[1] // groups, math.prod(x.shape[2:])
    words = {"EPSILON": descriptor.epsilon, "CHANNEL": f"row % {groups} * {channels} + i / {elements}"}
    return _rows(descriptor, "layer_norm", (channels, elements), words)


def _rows(descriptor: Any, kernel: str, row: tuple[int, ...], words: Mapping[str, Any]) -> Work | None:
    """Return the launch of a group for each row of this shape, None if operands are absent, strided, or rows are not the last."""
    present, width = descriptor.present, math.prod(row)
    is_whole = len(present) == len(_OPERANDS[kernel]) and all(spec.is_dense for spec in present.values())
    if not is_whole or (kernel in _SOFTMAXES and len(row) > 1):
        return None
    operands = dict(zip(_OPERANDS[kernel], present, strict=True))
    out = next(iter(descriptor.outputs.values()))
    return Work([row_launch(kernel, operands, out.size // width, out, {**words, "WIDTH": width})])


_OPERANDS: Final = {
    "softmax": ("x", "out"),
    "log_softmax": ("x", "out"),
    "softmax_backward": ("dy", "y", "out"),
    "layer_norm": ("x", "scale", "bias", "y"),
    "rms_layer_norm": ("x", "scale", "y"),
}
"""By text, its parameters."""
_SOFTMAXES: Final = frozenset({"softmax", "log_softmax", "softmax_backward"})
"""Texts whose rows lie along one axis, which has to be the last."""


def _batch_norm(descriptor: Any) -> Work | None:
    present, x = descriptor.present, descriptor.x
    names = ("x", "mean", "variance", "scale", "bias", "y")
    if tuple(present) != names or descriptor.axis != 1 or not all(spec.is_dense for spec in present.values()):
        return None
    sizes = (math.prod(x.shape[2:]), x.shape[0] * x.shape[1])
    words = {"EPSILON": descriptor.epsilon, "CHANNELS": x.shape[1]}
    return over("elementwise/batch_norm", names, sizes, words)


def _cross_entropy(descriptor: Any) -> Work | None:
    """Return two stages: the loss of each row, then their sum or mean."""
    x, out = descriptor.x, descriptor.out
    is_plain = not descriptor.is_log and descriptor.ignore_index is None and descriptor.weights is None
    if not (is_plain and x.ndim == _MATRIX and x.is_dense) or descriptor.reduction not in {"sum", "mean"}:
        return None
    rows, width = x.shape
    words = {"PARAMETERS": parameters(["x", "labels"]), "LESS": "X(first + LABELS(row))", "WIDTH": width}
    launches = [
        row_launch("log_sum_exp", {"x": "x", "labels": "labels", "out": "losses"}, rows, out, words),
        joined(descriptor.reduction, {"x": "losses", "out": "out"}, 1, rows, out),
    ]
    return Work(launches, {"losses": ep.TensorSpec("float32" if out.dtype == "float16" else out.dtype, (rows,))})


FORMS: Final[Mapping[str, Form]] = {
    "softmax": _softmax,
    "log_softmax": _softmax,
    "softmax_backward": _softmax_backward,
    "log_softmax_backward": _softmax_backward,
    "layer_norm": _layer_norm,
    "rms_layer_norm": _layer_norm,
    "group_norm": _group_norm,
    "batch_norm": _batch_norm,
    "cross_entropy": _cross_entropy,
}
"""By family, from a descriptor to its launches, None without a form."""
