"""Random numbers: of EP's generator, the same on every device; a graph that runs again draws others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from ep_primitives import RandomFill

from ep import TensorSpec
from ep_onnx.elements import dtype_of
from ep_onnx.rules.casts import converted
from ep_onnx.rules.rule import rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_onnx.interpreter import Call
    from ep_onnx.trace import Trace
    from ep_onnx.value import Value

__all__: list[str] = []


def _drawn(do: Trace, op: str, dtype: str, shape: Sequence[int], **numbers: float) -> Value:
    return do.emit(RandomFill.infer(op, TensorSpec(dtype, tuple(shape))), None, state=do.generator, **numbers)


def _shape(node: Call, x: Sequence[Value]) -> tuple[str, Sequence[int]]:
    given = node.get("dtype")
    like = x[0] if x else None
    dtype = dtype_of(given, node.node.title) if given is not None else like.dtype if like is not None else "float32"
    return dtype, like.shape if like is not None else node.get("shape")


@rule("RandomNormal", "RandomNormalLike")
def _normal(do: Trace, node: Call, *x: Value) -> Value:
    made = _drawn(do, "normal", *_shape(node, x))
    return _moved(do, made, node.get("scale", 1.0), node.get("mean", 0.0))


@rule("RandomUniform", "RandomUniformLike")
def _uniform(do: Trace, node: Call, *x: Value) -> Value:
    made = _drawn(do, "uniform", *_shape(node, x))
    low, high = node.get("low", 0.0), node.get("high", 1.0)
    return _moved(do, made, high - low, low)


@rule("Bernoulli")
def _bernoulli(do: Trace, node: Call, x: Value) -> Value:
    made = do.binary("less_than", _drawn(do, "uniform", x.dtype, x.shape), x)
    given = node.get("dtype")
    return do.cast(made, x.dtype) if given is None else converted(do, made, given, node.node.title)


@rule("Dropout")
def _dropout(
    do: Trace, node: Call, x: Value, ratio: Value | None = None, training: Value | None = None
) -> tuple[Value, Value]:
    is_training = training is not None and bool(do.host(training).item())
    share = float(do.host(ratio).item()) if ratio is not None else node.get("ratio", 0.5)
    if not is_training or not share:
        return x, do.constant(np.ones((1,) * x.ndim, np.bool_)).expand(x.shape)
    keep = do.binary("greater_equal", _drawn(do, "uniform", "float32", x.shape), do.constant(share, "float32"))
    kept = do.where(keep, x, do.constant(0, x.dtype))
    return do.binary("mul", kept, do.constant(1 / (1 - share) if share < 1 else 0.0, x.dtype)), keep


def _moved(do: Trace, x: Value, factor: float, offset: float) -> Value:
    x = do.binary("mul", x, do.constant(factor, x.dtype)) if factor != 1 else x
    return do.binary("add", x, do.constant(offset, x.dtype)) if offset else x
