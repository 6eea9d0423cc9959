"""Operations on one element at a time, with NumPy's broadcasting."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep_primitives import AddN

from ep_onnx.rules.rule import rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_onnx.interpreter import Call
    from ep_onnx.trace import Trace
    from ep_onnx.value import Value

__all__: list[str] = []

_FLOATS: Final = ("float16", "bfloat16", "float32", "float64")

_UNARY: Final = {
    "Abs": "abs", "Acos": "acos", "Acosh": "acosh", "Asin": "asin", "Asinh": "asinh", "Atan": "atan", "Atanh": "atanh",
    "BitwiseNot": "bitwise_not", "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh", "Erf": "erf", "Exp": "exp", "Floor": "floor",
    "HardSwish": "hard_swish", "IsNaN": "is_nan", "Log": "log", "Mish": "mish", "Neg": "negative", "Not": "logical_not",
    "Reciprocal": "reciprocal", "Round": "rint", "Sign": "sign", "Sin": "sin",
    "Sinh": "sinh", "Softsign": "soft_sign", "Sqrt": "sqrt", "Tan": "tan",
}  # fmt: skip
_BINARY: Final = {
    "And": "logical_and", "BitwiseAnd": "bitwise_and", "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor",
    "Div": "div", "Equal": "equal", "Greater": "greater_than", "GreaterOrEqual": "greater_equal", "Less": "less_than",
    "LessOrEqual": "less_equal", "Or": "logical_or", "Sub": "sub", "Xor": "logical_xor",
}  # fmt: skip


def _one(op: str) -> Any:
    return lambda do, _, x: do.unary(op, x)


def _two(op: str) -> Any:
    return lambda do, _, a, b: do.binary(op, a, b)


for _name, _op in _UNARY.items():
    rule(_name)(_one(_op))
for _name, _op in _BINARY.items():
    rule(_name)(_two(_op))


@rule("Add")
def _add(do: Trace, node: Call, a: Value, b: Value) -> Value:
    for place, (x, row) in enumerate(((a, b), (b, a))):
        if "bias" in x.instead and row.shape == x.shape[-1:] and row.dtype == x.dtype and node.owns(place):
            return x.instead["bias"](row)
    moved = _by_channels(node, a, b, lambda each, alike: (alike(1), each))
    return moved or do.binary("add", a, b)


@rule("Mul")
def _mul(do: Trace, node: Call, a: Value, b: Value) -> Value:
    scaled = _by_channels(node, a, b, lambda each, alike: (each, alike(0)))
    return scaled or do.binary("mul", a, b)


def _by_channels(node: Call, a: Value, b: Value, joined: Callable[..., tuple[Value, Value]]) -> Value | None:
    """Return what the step that made one operand makes with the other one in it, a constant for each channel; None where it cannot.

    joined : returns the factors and the offsets, of the constant's numbers and of a function that makes as many of one number
    """
    sides = enumerate(((a, b), (b, a)))
    found = [each for place, each in sides if "scale" in each[0].instead and _has_channels(*each) and node.owns(place)]
    if not found:
        return None
    x, other = found[0]
    array, channels = np.asarray(other.array), x.shape[1]

    def alike(number: int) -> Value:
        return node.lasting(f"{channels} of {number} in {array.dtype}", lambda: np.full(channels, number, array.dtype))

    def spread() -> Any:
        return np.broadcast_to(array.reshape(-1), (channels,)).copy()

    return x.instead["scale"](*joined(node.lasting(f"{channels} channels", spread, other), alike))


def _has_channels(x: Value, other: Value) -> bool:
    """Return True if a constant has one number for each channel of x, or for all, and makes it no larger."""
    if not other.is_constant or other.dtype != x.dtype or other.ndim > x.ndim:
        return False
    extents = (*(1,) * (x.ndim - other.ndim), *other.shape)
    return extents[1] in {1, x.shape[1]} and extents[:1] + extents[2:] == (1,) * (x.ndim - 1)


@rule("Relu", "Sigmoid", "Tanh")
def _activation(do: Trace, node: Call, x: Value) -> Value:
    name = node.node.op.lower()
    if "activation" in x.instead and node.owns(0):
        return x.instead["activation"](name)
    return do.unary(name, x)


@rule("Identity")
def _identity(do: Trace, node: Call, x: Any) -> Any:
    return x


@rule("Elu", "Celu")
def _elu(do: Trace, node: Call, x: Value) -> Value:
    return do.unary(node.node.op.lower(), x, alpha=node.get("alpha", 1.0))


@rule("Gelu")
def _gelu(do: Trace, node: Call, x: Value) -> Value:
    if node.get("approximate", "none") == "tanh":
        return do.unary("fast_gelu", x)
    if "activation" in x.instead and node.owns(0):
        return x.instead["activation"]("gelu")
    return do.unary("gelu", x)


@rule("Selu")
def _selu(do: Trace, node: Call, x: Value) -> Any:
    alpha, gamma = node.get("alpha", 1.6732632423543772), node.get("gamma", 1.0507009873554805)
    if np.float32(alpha) == np.float32(1.6732632423543772) and np.float32(gamma) == np.float32(1.0507009873554805):
        return do.unary("selu", x)
    return do.binary("mul", do.unary("elu", x, alpha=alpha), do.constant(gamma, x.dtype))


@rule("LeakyRelu")
def _leaky_relu(do: Trace, node: Call, x: Value) -> Value:
    return do.unary("leaky_relu", x, alpha=node.get("alpha", 0.01))


@rule("PRelu")
def _prelu(do: Trace, node: Call, x: Value, slope: Value) -> Value:
    return do.where(do.binary("less_than", x, do.constant(0, x.dtype)), do.binary("mul", x, slope), x)


@rule("ThresholdedRelu")
def _thresholded_relu(do: Trace, node: Call, x: Value) -> Value:
    zero = do.constant(0, x.dtype)
    return do.where(do.binary("greater_than", x, do.constant(node.get("alpha", 1.0), x.dtype)), x, zero)


@rule("Softplus")
def _softplus(do: Trace, node: Call, x: Value) -> Value:
    return do.unary("soft_plus", x, beta=1.0, threshold=_largest(x.dtype))


@rule("HardSigmoid")
def _hard_sigmoid(do: Trace, node: Call, x: Value) -> Value:
    slope = do.binary("mul", x, do.constant(node.get("alpha", 0.2), x.dtype))
    moved = do.binary("add", slope, do.constant(node.get("beta", 0.5), x.dtype))
    return do.unary("hard_tanh", moved, min=0.0, max=1.0)


@rule("Swish")
def _swish(do: Trace, node: Call, x: Value) -> Value:
    alpha = node.get("alpha", 1.0)
    if alpha == 1:
        return do.unary("silu", x)
    return do.binary("mul", x, do.unary("sigmoid", do.binary("mul", x, do.constant(alpha, x.dtype))))


@rule("Shrink")
def _shrink(do: Trace, node: Call, x: Value) -> Value:
    lambd, bias, dtype = node.get("lambd", 0.5), node.get("bias", 0.0), x.dtype
    x = x if dtype in _FLOATS else do.cast(x, "float64")
    made = do.constant(0, x.dtype)
    for op, limit, offset in (("less_than", -lambd, bias), ("greater_than", lambd, -bias)):
        moved = do.binary("add", x, do.constant(offset, x.dtype)) if offset else x
        made = do.where(do.binary(op, x, do.constant(limit, x.dtype)), moved, made)
    return do.cast(made, dtype)


@rule("IsInf")
def _is_inf(do: Trace, node: Call, x: Value) -> Value:
    signs = [sign for sign, name in ((1, "detect_positive"), (-1, "detect_negative")) if node.get(name, 1)]
    if len(signs) == 1:
        return do.binary("equal", x, do.constant(signs[0] * np.inf, x.dtype))
    return do.unary("is_inf", x) if signs else do.full("bool", x.shape, 0)


@rule("Clip")
def _clip(do: Trace, node: Call, x: Value, low: Value | None = None, high: Value | None = None) -> Value:
    given = {"max": node.get("min"), "min": node.get("max")}
    bounds = {"max": low, "min": high}
    for op, number in given.items():
        if number is not None:
            bounds[op] = do.constant(number, x.dtype)
    for op, bound in bounds.items():
        if bound is not None:
            x = do.binary(op, x, bound)
    return x


@rule("Max", "Min")
def _extreme(do: Trace, node: Call, *x: Value) -> Value:
    return functools.reduce(functools.partial(do.binary, node.node.op.lower()), x)


@rule("Sum")
def _sum(do: Trace, node: Call, *x: Value) -> Value:
    if len(x) > 2 and len({each.spec.shape for each in x}) == 1:  # noqa: PLR2004 - two are a plain add
        descriptor = AddN.infer(*[each.spec for each in x])
        names = [name for name in descriptor.operands if name != "out"]
        return do.emit(descriptor, None, **dict(zip(names, x, strict=True)))
    return functools.reduce(functools.partial(do.binary, "add"), x)


@rule("Mean")
def _mean(do: Trace, node: Call, *x: Value) -> Value:
    return do.binary("div", _sum(do, node, *x), do.constant(len(x), x[0].dtype))


@rule("Mod")
def _mod(do: Trace, node: Call, a: Value, b: Value) -> Value:
    return do.binary("fmod" if node.get("fmod", 0) else "floor_mod", a, b)


@rule("Pow")
def _pow(do: Trace, node: Call, a: Value, b: Value) -> Value:
    exponent = do.number(b)
    if exponent == 2 and a.dtype in _FLOATS and np.broadcast_shapes(a.shape, b.shape) == a.shape:  # noqa: PLR2004 - a square
        return do.unary("square", a)
    if a.dtype == b.dtype:
        return do.binary("pow", a, b)
    if a.dtype in _FLOATS:
        return do.binary("pow", a, do.cast(b, a.dtype))
    wide = b.dtype if b.dtype in _FLOATS else "int64"
    return do.cast(do.binary("pow", do.cast(a, wide), do.cast(b, wide)), a.dtype)


@rule("Where")
def _where(do: Trace, node: Call, condition: Value, a: Value, b: Value) -> Value:
    return do.where(condition, a, b)


def _largest(dtype: str) -> float:
    return {"float16": 65504.0, "float64": 1.7976931348623157e308}.get(dtype, 3.3895313892515355e38)
