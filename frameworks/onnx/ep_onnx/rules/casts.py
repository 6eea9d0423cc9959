"""Conversions between element types, also ONNX's narrow types that EP holds in wider ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep_primitives import SaturatingCast
from onnx import TensorProto

from ep_onnx.elements import HELD, element_name, narrow
from ep_onnx.errors import LackingError
from ep_onnx.rules.rule import rule
from ep_onnx.value import Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_onnx.interpreter import Call
    from ep_onnx.trace import Trace

__all__ = ["BITS", "converted"]

BITS: Final[Mapping[int, int]] = {TensorProto.UINT4: 4, TensorProto.INT4: 4, TensorProto.UINT2: 2, TensorProto.INT2: 2}
"""Of the integer types narrower than a byte."""
_STEPS: Final = ((4.0, 2.0), (2.0, 1.0), (0.0, 0.5))
"""Of float4_e2m1: from which magnitude on its numbers are how far apart."""
_LARGEST: Final = 6.0


@rule("Cast")
def _cast(do: Trace, node: Call, x: Value) -> Value:
    return converted(do, x, node.get("to"), node.node.title, saturates=bool(node.get("saturate", 1)))


@rule("CastLike")
def _cast_like(do: Trace, node: Call, x: Value, like: Value) -> Value:
    element = like.element or next(each for each, dtype in HELD.items() if dtype == like.dtype and narrow(each) is None)
    return converted(do, x, element, node.node.title, saturates=bool(node.get("saturate", 1)))


def converted(do: Trace, x: Value, element: int, where: str, *, saturates: bool = True) -> Value:
    """Append a conversion to an element type of ONNX."""
    dtype = HELD.get(element)
    if dtype is None:
        message = f"{where}: element type {element_name(element)} is held by none of EP's; give another type"
        raise LackingError(message)
    kind = narrow(element)
    if kind == x.element and dtype == x.dtype:
        return x
    if kind is not None and kind in BITS:
        made = do.cast(_wrapped(do, do.cast(x, "int32"), BITS[kind], is_signed=dtype == "int8"), dtype)
    elif kind is not None:
        made = do.cast(_quarter(do, do.cast(x, "float32")), dtype)
    elif dtype.startswith("float8") and saturates and dtype != x.dtype:
        made = do.emit(SaturatingCast.infer(x.spec, dtype), None, x=x)
    else:
        made = do.cast(x, dtype)
    return Value(made.spec, made.buffer, made.array, kind)


def _wrapped(do: Trace, x: Value, bits: int, *, is_signed: bool) -> Value:
    """Append the integers wrapped to so many bits."""
    count = do.constant(1 << bits, x.dtype)
    if not is_signed:
        return do.binary("floor_mod", x, count)
    half = do.constant(1 << (bits - 1), x.dtype)
    return do.binary("sub", do.binary("floor_mod", do.binary("add", x, half), count), half)


def _quarter(do: Trace, x: Value) -> Value:
    """Append the nearest numbers of float4_e2m1, the even one of two; larger numbers become 6."""
    bounded = do.unary("hard_tanh", x, min=-_LARGEST, max=_LARGEST)
    size = do.unary("abs", bounded)
    step = do.constant(_STEPS[-1][1], "float32")
    for least, apart in _STEPS[-2::-1]:
        is_there = do.binary("greater_equal", size, do.constant(least, "float32"))
        step = do.where(is_there, do.constant(apart, "float32"), step if step.ndim else step.expand(x.shape))
    return do.binary("mul", do.unary("rint", do.binary("div", bounded, step)), step)


@rule("BitCast")
def _bit_cast(do: Trace, node: Call, x: Value) -> Any:
    """Seen as another type of the same size: as bytes of the same buffer."""
    from ep import TensorSpec  # noqa: PLC0415 - one of a kind

    dtype = HELD[node.get("to")]
    if np.dtype(dtype).itemsize != x.spec.itemsize:
        return NotImplemented
    dense = do.dense(x) if x.is_on_device else do.copy(x)
    return Value(TensorSpec(dtype, x.shape, None, dense.spec.offset), dense.buffer)


@rule("BitShift")
def _bit_shift(do: Trace, node: Call, x: Value, count: Value) -> Value:
    return do.binary("shift_left" if node.get("direction") == "LEFT" else "shift_right", x, count)
