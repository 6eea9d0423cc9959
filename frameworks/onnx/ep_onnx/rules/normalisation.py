"""Values freed of their mean and spread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep_primitives import BatchNorm, GroupNorm, LayerNorm, RmsLayerNorm

from ep_onnx.rules.rule import rule

if TYPE_CHECKING:
    from ep_onnx.interpreter import Call
    from ep_onnx.trace import Trace
    from ep_onnx.value import Value

__all__: list[str] = []

_THREE_QUARTERS: Final = 0.75
"""ONNX's exponent of LRN, if a model has none."""
_NOTHING: Final = 1e-30
"""An epsilon that a variance of 1 absorbs."""


@rule("LayerNormalization")
def _layer_norm(do: Trace, node: Call, x: Value, scale: Value | None = None, bias: Value | None = None) -> Any:
    axis = node.axis(x.ndim, -1)
    row = x.shape[axis:]
    scale, bias = (each if each is None else each.expand(row) for each in (scale, bias))
    wants = [bool(name) for name in (*node.node.outputs, "", "")[:3]]
    descriptor = LayerNorm.infer(
        x.spec,
        scale and scale.spec,
        bias and bias.spec,
        axis=axis,
        epsilon=node.get("epsilon", 1e-5),
        mean=wants[1] or None,
        rstd=wants[2] or None,
    )
    made = do.launch(descriptor, x=x, scale=scale, bias=bias)
    return made["y"], made.get("mean"), made.get("rstd")


@rule("RMSNormalization")
def _rms_norm(do: Trace, node: Call, x: Value, scale: Value) -> Any:
    axis = node.axis(x.ndim, -1)
    if scale.dtype != x.dtype:
        return NotImplemented
    spread = scale.expand(x.shape[axis:])
    descriptor = RmsLayerNorm.infer(x.spec, spread.spec, axis=axis, epsilon=node.get("epsilon", 1e-5))
    return do.emit(descriptor, None, x=x, scale=spread)


@rule("InstanceNormalization", "GroupNormalization")
def _group_norm(do: Trace, node: Call, x: Value, scale: Value, bias: Value) -> Any:
    channels = x.shape[1]
    groups = node.get("num_groups", channels)
    if scale.shape != (channels,) and node.version < 21:  # noqa: PLR2004 - one number a group before
        scale, bias = (
            do.reshape(do.reshape(each, (groups, 1)).expand((groups, channels // groups)), (channels,))
            for each in (scale, bias)
        )
    descriptor = GroupNorm.infer(x.spec, groups, scale.spec, bias.spec, epsilon=node.get("epsilon", 1e-5))
    return do.emit(descriptor, None, x=x, scale=scale, bias=bias)


@rule("BatchNormalization")
def _batch_norm(do: Trace, node: Call, x: Value, scale: Value, bias: Value, mean: Value, variance: Value) -> Any:
    if not node.get("training_mode", 0):
        if all(each.is_constant for each in (scale, bias, mean, variance)):
            return _known(do, node, x, scale, bias, mean, variance)
        return _normalised(do, x, scale, bias, mean, variance, node.get("epsilon", 1e-5))
    axes = [0, *range(2, x.ndim)]
    momentum = node.get("momentum", 0.9)
    own_mean = do.reduce("mean", do.cast(x, mean.dtype), axes, keeps=True)
    off = do.binary("sub", do.cast(x, mean.dtype), own_mean)
    own_variance = do.reduce("mean", do.unary("square", off), axes, keeps=False)
    own_mean = do.reshape(own_mean, mean.shape)
    y = _normalised(do, x, scale, bias, own_mean, own_variance, node.get("epsilon", 1e-5))

    def moved(old: Value, new: Value) -> Value:
        kept = do.binary("mul", old, do.constant(momentum, old.dtype))
        return do.binary("add", kept, do.binary("mul", new, do.constant(1 - momentum, new.dtype)))

    return y, moved(mean, own_mean), moved(variance, own_variance)


def _known(do: Trace, node: Call, x: Value, *parameters: Value) -> Value:
    """Append x factor + offset with factors and offsets worked out on the host, in the step that made x where that can be."""
    scale, bias, mean, variance = (np.asarray(each.array, np.float64) for each in parameters)
    epsilon = node.get("epsilon", 1e-5)
    spread = scale / np.sqrt(variance + epsilon)
    dtype = parameters[2].array.dtype  # type: ignore[union-attr]  # all are known
    factor = node.lasting(f"factor {epsilon}", lambda: spread.astype(dtype), *parameters)
    offset = node.lasting(f"offset {epsilon}", lambda: (bias - mean * spread).astype(dtype), *parameters)
    if "scale" in x.instead and node.owns(0):
        return x.instead["scale"](factor, offset)
    return _moved(do, node, x, factor, offset)


def _moved(do: Trace, node: Call, x: Value, factor: Value, offset: Value) -> Value:
    """Append x factor + offset, in the type of these."""
    like = np.asarray(factor.array)
    zeros = node.lasting(f"{like.size} of 0 in {like.dtype}", lambda: np.zeros_like(like))
    ones = node.lasting(f"{like.size} of 1 in {like.dtype}", lambda: np.ones_like(like))
    y = _normalised(do, x, factor, offset, zeros, ones, _NOTHING)

    def again(more: Value, then: Value) -> Value:
        wide = [np.asarray(each.array, np.float64) for each in (factor, offset, more, then)]
        dtype, values = np.asarray(factor.array).dtype, (factor, offset, more, then)
        both = node.lasting("both factors", lambda: (wide[0] * wide[2]).astype(dtype), *values)
        behind = node.lasting("both offsets", lambda: (wide[1] * wide[2] + wide[3]).astype(dtype), *values)
        return _moved(do, node, x, both, behind)

    y.instead["scale"] = again
    return y


def _normalised(do: Trace, x: Value, scale: Value, bias: Value, mean: Value, variance: Value, epsilon: float) -> Value:
    """Append a BatchNorm in the type of the statistics."""
    wide = mean.dtype
    operands = {name: do.cast(each, wide) for name, each in {"x": x, "scale": scale, "bias": bias}.items()}
    descriptor = BatchNorm.infer(
        operands["x"].spec, mean.spec, variance.spec, operands["scale"].spec, operands["bias"].spec, epsilon=epsilon
    )
    return do.cast(do.emit(descriptor, None, **operands, mean=mean, variance=variance), x.dtype)


@rule("LpNormalization")
def _lp_norm(do: Trace, node: Call, x: Value) -> Value:
    norm = do.reduce("norm_1" if node.get("p", 2) == 1 else "norm_2", x, [node.get("axis", -1)])
    is_zero = do.binary("equal", norm, do.constant(0, x.dtype))
    return do.binary("div", x, do.where(is_zero, do.constant(1, x.dtype), norm))


@rule("LRN")
def _lrn(do: Trace, node: Call, x: Value) -> Value:
    size = node.get("size")
    before, after = (size - 1) // 2, size - 1 - (size - 1) // 2
    squares = do.dense(do.unary("square", x))
    padded = do.pad(squares, [0, before, *[0] * (x.ndim - 2)], [0, after, *[0] * (x.ndim - 2)])
    step = padded.spec.strides[1]
    windows = padded.windows((*x.shape, size), (*padded.spec.strides, step))
    total = do.reduce("sum", windows, [-1], keeps=False)
    share = do.binary("mul", total, do.constant(node.get("alpha", 1e-4) / size, x.dtype))
    base = do.binary("add", share, do.constant(node.get("bias", 1.0), x.dtype))
    return do.binary("div", x, _power(do, base, node.get("beta", _THREE_QUARTERS)))


def _power(do: Trace, base: Value, exponent: float) -> Value:
    """Append base ** exponent; by square roots, a third of the time, where that is the usual one."""
    if exponent != _THREE_QUARTERS:
        return do.binary("pow", base, do.constant(exponent, base.dtype))
    root = do.unary("sqrt", base)
    return do.binary("mul", root, do.unary("sqrt", root))


def _channels(do: Trace, each: Value, rank: int) -> Value:
    """Return one number a channel as it is broadcast along the second dimension."""
    return do.reshape(each, (each.size, *[1] * (rank - 2)))
