"""Formulas of ops in OpenCL C, by the kind of the element type: what its built-in functions offer, and arithmetic.

A choice of two is written as one, not as fmax, max or abs: PoCL calls a function for those, and takes seven times as long.
"""

from __future__ import annotations

from typing import Final

__all__ = ["BINARY", "UNARY"]

_BUILT_IN: Final = ("exp", "log", "sqrt", "rsqrt", "sin", "cos", "tan", "tanh", "erf", "lgamma")

_UNARY: Final = {
    "abs": "v < 0 ? -v : v",
    "negative": "-v",
    "relu": "v > 0 ? v : 0",
    "sigmoid": "1 / (1 + exp(-v))",
    "silu": "v / (1 + exp(-v))",
    "soft_plus": "log1p(exp(v))",
    "gelu": "v / 2 * (1 + erf(v * (X_VALUE)0.70710678118654752))",
    **{name: f"{name}(v)" for name in _BUILT_IN},
}
_UNARY_OF_INTEGERS: Final = {"abs": "v < 0 ? -v : v", "negative": "-v"}
_UNARY_OF_COMPLEX: Final = {
    "abs": "hypot(v.x, v.y)",
    "negative": "-v",
    "exp": "exp(v.x) * (float2)(cos(v.y), sin(v.y))",
}

_ARITHMETIC: Final = {"add": "u + v", "sub": "u - v", "mul": "u * v", "less_than": "u < v"}
_BINARY: Final = {
    **_ARITHMETIC,
    "div": "u / v",
    "max": "u > v ? u : v",
    "pow": "pow(u, v)",
    "tanh_backward_with_dy_y": "u * (1 - v * v)",
    "silu_backward_with_dy_x": "u / (1 + exp(-v)) * (1 + v / (1 + exp(v)))",
    "gelu_backward_with_dy_x": "u * ((1 + erf(v * (OUT_VALUE)0.70710678118654752)) / 2 + v * exp(-v * v / 2) * (OUT_VALUE)0.3989422804014327)",
}
_BINARY_OF_INTEGERS: Final = {
    **_ARITHMETIC,
    "max": "u > v ? u : v",
    "floor_div": "u / v - (u % v != 0 && (u < 0) != (v < 0))",
}
_BINARY_OF_COMPLEX: Final = {
    "add": "u + v",
    "sub": "u - v",
    "mul": "(float2)(u.x * v.x - u.y * v.y, u.x * v.y + u.y * v.x)",
}

UNARY: Final = {"f": _UNARY, "i": _UNARY_OF_INTEGERS, "u": {}, "b": {}, "c": _UNARY_OF_COMPLEX}
"""By kind and op, the result for the number v."""

BINARY: Final = {
    "f": _BINARY,
    "i": _BINARY_OF_INTEGERS,
    "u": _ARITHMETIC,
    "b": {"logical_and": "u && v"},
    "c": _BINARY_OF_COMPLEX,
}
"""By kind and op, the result for the numbers u and v, the operands in their order."""
