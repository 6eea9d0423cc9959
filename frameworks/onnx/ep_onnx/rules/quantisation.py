"""Numbers as small integers with a scale and a zero point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ep_primitives import Dequantize, Quantize

from ep_onnx.elements import HELD, dtype_of, narrow
from ep_onnx.rules.casts import BITS, converted
from ep_onnx.rules.products import product
from ep_onnx.rules.rule import counted, rule
from ep_onnx.value import Value

if TYPE_CHECKING:
    from ep_onnx.interpreter import Call
    from ep_onnx.trace import Trace

__all__: list[str] = []

_INTEGERS: Final = ("int8", "uint8", "int16", "uint16")


@rule("QuantizeLinear")
def _quantize_linear(do: Trace, node: Call, x: Value, scale: Value, zero: Value | None = None) -> Value:
    given = node.get("output_dtype", 0)
    element = given or (zero.element if zero is not None else None)
    dtype = dtype_of(given, node.node.title) if given else zero.dtype if zero is not None else "uint8"
    x = do.cast(x, scale.dtype)
    if dtype not in _INTEGERS or (element is not None and narrow(element) is not None):
        return _coarse(do, node, x, scale, zero, element, dtype)
    where = _where(node, x, scale)
    shaped = _along(do, where, x, scale, zero, node.get("axis", 1))
    descriptor = Quantize.infer(x.spec, shaped[0].spec, shaped[1] and shaped[1].spec, dtype=dtype, **where)
    return do.emit(descriptor, None, x=x, scale=shaped[0], zero_point=shaped[1])


@rule("DequantizeLinear")
def _dequantize_linear(do: Trace, node: Call, x: Value, scale: Value, zero: Value | None = None) -> Value:
    given = node.get("output_dtype", 0)
    if x.dtype.startswith("float"):
        made = do.binary("mul", do.cast(Value(x.spec, x.buffer, x.array), scale.dtype), _spread(do, node, x, scale))
        return do.cast(made, dtype_of(given, node.node.title)) if given else made
    where = _where(node, x, scale)
    plain = Value(x.spec, x.buffer, x.array)
    shaped = _along(do, where, x, scale, zero, node.get("axis", 1))
    descriptor = Dequantize.infer(plain.spec, shaped[0].spec, shaped[1] and shaped[1].spec, **where)
    made = do.emit(descriptor, None, x=plain, scale=shaped[0], zero_point=shaped[1])
    return do.cast(made, dtype_of(given, node.node.title)) if given else made


def _where(node: Call, x: Value, scale: Value) -> dict[str, int]:
    """Return axis and block as the families have them, nothing for one scale, or one for each place along an axis."""
    block = node.get("block_size", 0)
    return {"axis": node.axis(x.ndim, 1), "block": block} if block and scale.ndim == x.ndim else {}


def _along(do: Trace, where: dict[str, int], x: Value, scale: Value, zero: Value | None, axis: int) -> list[Any]:
    """Return scale and zero point as they broadcast to x."""
    return [each if where or each is None else _column(do, each, x, axis) for each in (scale, zero and _plain(zero))]


def _plain(value: Value) -> Value:
    return Value(value.spec, value.buffer, value.array)


def _column(do: Trace, each: Value, x: Value, axis: int) -> Value:
    if each.size == 1:
        return do.reshape(each, ())
    axis = counted(axis, x.ndim)
    return do.reshape(each, [each.size if place == axis else 1 for place in range(x.ndim)])


def _spread(do: Trace, node: Call, x: Value, scale: Value) -> Value:
    where = _where(node, x, scale)
    if not where:
        return _column(do, scale, x, node.get("axis", 1))
    apart = [
        extent
        for place, extent in enumerate(scale.shape)
        for extent in ((extent, 1) if place == where["axis"] else (extent,))
    ]
    wide = [extent if place != where["axis"] + 1 else where["block"] for place, extent in enumerate(apart)]
    whole = [extent * (where["block"] if place == where["axis"] else 1) for place, extent in enumerate(scale.shape)]
    spread = do.reshape(do.reshape(scale, apart).expand(wide), whole)
    return spread[tuple([slice(0, extent) for extent in x.shape])]


def _coarse(
    do: Trace, node: Call, x: Value, scale: Value, zero: Value | None, element: int | None, dtype: str
) -> Value:
    """Append a quantisation to a float8, which has no zero point, or to a type narrower than a byte."""
    share = do.binary("div", x, _spread(do, node, x, scale))
    if element is None:
        element = next(each for each, held in HELD.items() if held == dtype and narrow(each) is None)
    if dtype.startswith("float"):
        return converted(do, share, element, node.node.title, saturates=bool(node.get("saturate", 1)))
    bits = BITS[element]
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if dtype == "int8" else (0, (1 << bits) - 1)
    rounded = do.unary("rint", share)
    if zero is not None:
        rounded = do.binary("add", rounded, _spread(do, node, x, do.cast(_plain(zero), x.dtype)))
    bounded = do.unary("hard_tanh", rounded, min=float(low), max=float(high))
    made = do.cast(bounded, dtype)
    return Value(made.spec, made.buffer, made.array, element)


@rule("MatMulInteger")
def _matmul_integer(
    do: Trace, node: Call, a: Value, b: Value, a_zero: Value | None = None, b_zero: Value | None = None
) -> Value:
    left, right = _centred(do, a, a_zero, -2), _centred(do, b, b_zero, -1)
    return do.cast(product(do, left, right), "int32")


@rule("QLinearMatMul")
def _qlinear_matmul(do: Trace, node: Call, *x: Value) -> Value:
    a, a_scale, a_zero, b, b_scale, b_zero, scale, zero = x
    made = product(do, _centred(do, a, a_zero, -2), _centred(do, b, b_zero, -1))
    rows = a_scale if a_scale.ndim > 1 else _column(do, a_scale, made, -2)
    return _rescaled(do, made, (rows, b_scale), scale, zero)


@rule("QLinearConv")
def _qlinear_conv(do: Trace, node: Call, *x: Value) -> Any:
    from ep_onnx.rules.windows import convolved  # noqa: PLC0415 - one of a kind

    a, a_scale, a_zero, w, w_scale, w_zero, scale, zero, *bias = x
    made = convolved(
        do, node, _centred(do, a, a_zero, 1), _centred(do, w, w_zero, 0), do.cast(bias[0], "float64") if bias else None
    )
    return _rescaled(do, made, (a_scale, _column(do, w_scale, made, 1)), scale, zero)


def _centred(do: Trace, x: Value, zero: Value | None, axis: int) -> Value:
    """Append small integers less their zero point, as float64, which holds every sum of their products."""
    wide = do.cast(_plain(x), "float64")
    if zero is None:
        return wide
    return do.binary("sub", wide, _column(do, do.cast(zero, "float64"), x, axis))


def _rescaled(do: Trace, x: Value, scales: tuple[Value, Value], scale: Value, zero: Value) -> Value:
    """Append sums of products as small integers of another scale."""
    factor = do.binary("mul", *[do.cast(each, "float64") for each in scales])
    real = do.binary("mul", x, do.reshape(factor, ()) if factor.size == 1 else factor)
    point, wide = do.reshape(_plain(zero), ()), do.reshape(do.cast(scale, "float64"), ())
    descriptor = Quantize.infer(real.spec, wide.spec, point.spec, dtype=zero.dtype)
    return do.emit(descriptor, None, x=real, scale=wide, zero_point=point)
