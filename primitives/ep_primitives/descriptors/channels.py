"""Tensors with channels, (N, C, ...), and operands with one element for each channel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep import TensorSpec
from ep_primitives.descriptors.validation import check_dtype, check_spec

if TYPE_CHECKING:
    from typing import Any

__all__ = ["check_channels", "check_parameter", "spread"]


def check_channels(op: str, x: TensorSpec, y: TensorSpec, axis: int) -> int:
    """Return how many channels x has along an axis, not negative. Raises ValueError if it has no such axis, or y another shape."""
    if x.ndim <= axis:
        message = f"{op}: x has shape {x.shape}, needs the channels along dimension {axis}; add extents of 1"
        raise ValueError(message)
    if y.shape != x.shape:
        message = f"{op}: y has shape {y.shape}, needs x's shape {x.shape}; describe y so"
        raise ValueError(message)
    return x.shape[axis]


def check_parameter(op: str, name: str, spec: Any, dtype: str, channels: int) -> None:
    """Raise TypeError or ValueError unless an operand is one number of an element type for each channel."""
    check_spec(op, name, spec)
    check_dtype(op, name, spec, (dtype,))
    if spec.shape != (channels,):
        message = (
            f"{op}: {name} has shape {spec.shape}, needs {(channels,)}, one number a channel of x; "
            "repeat one for all by a stride of 0"
        )
        raise ValueError(message)


def spread(spec: TensorSpec, axis: int, rank: int) -> TensorSpec:
    """Return a tensor of one number a channel with the rank of x, extents of 1 along all dimensions but the channels'."""
    after = rank - axis - 1
    return TensorSpec(
        spec.dtype, (1,) * axis + spec.shape + (1,) * after, (0,) * axis + spec.strides + (0,) * after, spec.offset
    )
