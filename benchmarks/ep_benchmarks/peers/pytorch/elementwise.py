"""PyTorch's forms of the families of ops on elements. Most ops have PyTorch's own name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch import Tensor

__all__ = ["FORMS"]

_UNARY: Final = {
    "negative": "neg",
    "rint": "round",
    "soft_plus": "softplus",
    "hard_swish": "hardswish",
    "hard_sigmoid": "hardsigmoid",
    "is_nan": "isnan",
    "is_inf": "isinf",
    "is_finite": "isfinite",
}
_BINARY: Final = {
    "max": "maximum",
    "min": "minimum",
    "floor_div": "floor_divide",
    "equal": "eq",
    "not_equal": "ne",
    "less_than": "lt",
    "less_equal": "le",
    "greater_than": "gt",
    "greater_equal": "ge",
    "floor_mod": "remainder",
}
"""Those with another name there."""
_DIVIDED: Final = {"div": None, "trunc_div": "trunc"}
_GRADIENTS: Final = {
    "tanh_backward_with_dy_y": torch.ops.aten.tanh_backward,
    "silu_backward_with_dy_x": torch.ops.aten.silu_backward,
    "gelu_backward_with_dy_x": torch.ops.aten.gelu_backward,
}


def _unary(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any] | None:
    x, out, name = given["x"], outs["out"], _UNARY.get(descriptor.op, descriptor.op)
    if name == "relu":  # clamping is what relu does, and has a form with out=
        return lambda: torch.clamp_min(x, 0, out=out)
    function = getattr(torch._C._nn, name, None) or getattr(torch, name, None)  # noqa: SLF001 - where activations with out= are
    if function is None:
        return None
    numbers = descriptor.attributes
    return lambda: function(x, *numbers, out=out)


def _binary(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any] | None:
    (a, b), out, op = given.values(), outs["out"], descriptor.op
    if op == "div" and not out.is_floating_point():
        return None
    if op in _GRADIENTS:
        backward = _GRADIENTS[op].grad_input
        return lambda: backward(a, b, grad_input=out)
    if op in _DIVIDED:
        return lambda: torch.div(a, b, rounding_mode=_DIVIDED[op], out=out)
    function = getattr(torch, _BINARY.get(op, op), None)
    if function is None or not isinstance(a, torch.Tensor) or descriptor.attributes:
        return None
    return lambda: function(a, b, out=out)


def _where(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any]:
    del descriptor
    (condition, a, b), out = given.values(), outs["out"]
    return lambda: torch.where(condition, a, b, out=out)


def _cast(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any]:
    del descriptor
    return partial(outs["out"].copy_, given["x"])


def _add_n(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any]:
    del descriptor
    (first, second, *rest), out = given.values(), outs["out"]

    def add() -> None:
        torch.add(first, second, out=out)
        for each in rest:
            out.add_(each)

    return add


def _dequantize(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any] | None:
    x, scale, out = given["x"], given["scale"], outs["out"]
    if descriptor.zero_point is not None or descriptor.block:
        return None
    return lambda: torch.mul(x, scale, out=out)


FORMS: Final = {
    "elementwise_unary": _unary,
    "broadcast_binary": _binary,
    "where": _where,
    "cast": _cast,
    "add_n": _add_n,
    "dequantize": _dequantize,
}
