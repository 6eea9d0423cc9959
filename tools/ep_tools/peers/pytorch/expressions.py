"""Each op as PyTorch says it: a function of tensors, then the row's attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["EXPRESSIONS"]

_INFINITY: Final = float("inf")
_aten: Final[Any] = torch.ops.aten


def slope(forward: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Return dy times the derivative of a function at x, by automatic differentiation."""

    def value(dy: torch.Tensor, x: torch.Tensor, *attributes: float) -> torch.Tensor:
        leaf = x.clone().requires_grad_()
        gradients: tuple[torch.Tensor, ...] = torch.autograd.grad(forward(leaf, *attributes), leaf, dy)
        return gradients[0]

    return value


def reciprocal_no_nan(x: torch.Tensor) -> torch.Tensor:
    """Return 1 / x, and 0 at 0; both sides of `where` are differentiated, so 0 must not reach the quotient."""
    is_zero = x == 0
    return torch.where(is_zero, torch.zeros_like(x), torch.where(is_zero, torch.ones_like(x), x).reciprocal())


def trigamma(x: torch.Tensor) -> torch.Tensor:
    """Return the second derivative of log Gamma."""
    return torch.polygamma(1, x)


def quick_gelu(x: torch.Tensor) -> torch.Tensor:
    """Return x sigmoid(1.702 x), which PyTorch has no name for."""
    return x * torch.sigmoid(1.702 * x)


def fast_gelu(x: torch.Tensor) -> torch.Tensor:
    """Return gelu by tanh."""
    return functional.gelu(x, approximate="tanh")


def square_relu(x: torch.Tensor) -> torch.Tensor:
    """Return the square of relu, which PyTorch has no name for."""
    return torch.square(torch.relu(x))


def shrunk_softly(dy: torch.Tensor, y: torch.Tensor, alpha: float) -> torch.Tensor:
    """Return the gradient of soft_shrink at the x that it shrinks to y."""
    return slope(functional.softshrink)(dy, torch.where(y == 0, y, y + torch.sign(y) * 2 * alpha), alpha)


def shrunk_hard(dy: torch.Tensor, y: torch.Tensor, lambd: float) -> torch.Tensor:
    """Return the gradient of hard_shrink at an x that is 0 or outside of the interval, as its results are."""
    return slope(functional.hardshrink)(dy, torch.where(y == 0, y, y + torch.sign(y) * 2 * lambd), lambd)


def divided(mode: str) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """Return the division that rounds its quotient."""
    return lambda a, b: torch.div(a, b, rounding_mode=mode)


def quotient(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a / b, of integers truncated: true division would make them float32."""
    return torch.div(a, b, rounding_mode=None if a.is_floating_point() or a.is_complex() else "trunc")


def is_close(*, equal_nan: bool) -> Callable[..., torch.Tensor]:
    """Return the comparison within a tolerance."""
    return lambda a, b, atol, rtol: torch.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def celu_slope(dy: torch.Tensor, y: torch.Tensor, alpha: float) -> torch.Tensor:
    """Return the gradient of celu in terms of its result: elu's, with an input scaled by 1 / alpha."""
    result: torch.Tensor = _aten.elu_backward(
        dy, alpha, scale=1, input_scale=1 / alpha, is_result=True, self_or_result=y
    )
    return result


def power_of(base: float, x: torch.Tensor) -> torch.Tensor:
    """Return base^x."""
    return torch.pow(torch.tensor(base, dtype=x.dtype), x)


_ACTIVATIONS: Final[dict[str, Any]] = {
    "identity": torch.clone,
    "elu": functional.elu,
    "celu": functional.celu,
    "relu": torch.relu,
    "gelu": functional.gelu,
    "hard_swish": functional.hardswish,
    "hard_sigmoid": functional.hardsigmoid,
    "hard_shrink": functional.hardshrink,
    "hard_tanh": functional.hardtanh,
    "leaky_relu": functional.leaky_relu,
    "mish": functional.mish,
    "selu": functional.selu,
    "silu": functional.silu,
    "soft_shrink": functional.softshrink,
    "soft_sign": functional.softsign,
    "soft_plus": functional.softplus,
    "tanh": torch.tanh,
    "threshold": functional.threshold,
    "fast_gelu": fast_gelu,
    "quick_gelu": quick_gelu,
    "square_relu": square_relu,
}
_SMOOTH: Final[dict[str, Any]] = {
    "abs": torch.abs,
    "acos": torch.acos,
    "acosh": torch.acosh,
    "asin": torch.asin,
    "asinh": torch.asinh,
    "atan": torch.atan,
    "atanh": torch.atanh,
    "cos": torch.cos,
    "cosh": torch.cosh,
    "digamma": torch.digamma,
    "erf": torch.erf,
    "erfc": torch.erfc,
    "exp": torch.exp,
    "exp2": torch.exp2,
    "expm1": torch.expm1,
    "lgamma": torch.lgamma,
    "log": torch.log,
    "log2": torch.log2,
    "log10": torch.log10,
    "log1p": torch.log1p,
    "log_sigmoid": functional.logsigmoid,
    "reciprocal": torch.reciprocal,
    "reciprocal_no_nan": reciprocal_no_nan,
    "rsqrt": torch.rsqrt,
    "sigmoid": torch.sigmoid,
    "sin": torch.sin,
    "sinh": torch.sinh,
    "sqrt": torch.sqrt,
    "square": torch.square,
    "tan": torch.tan,
}
_UNARY: Final[dict[str, Any]] = {
    **_ACTIVATIONS,
    **_SMOOTH,
    "ceil": torch.ceil,
    "trigamma": trigamma,
    "floor": torch.floor,
    "negative": torch.negative,
    "rint": torch.round,
    "round": torch.round,
    "sign": torch.sgn,
    "trunc": torch.trunc,
    "not_equal_zero": lambda x: (x != 0).to(x.dtype),
    "logical_not": torch.logical_not,
    "is_inf": torch.isinf,
    "is_nan": torch.isnan,
    "is_finite": torch.isfinite,
    "nan_assign": lambda x: torch.where(torch.isnan(x), torch.zeros_like(x), x),
    "bitwise_not": torch.bitwise_not,
    "signbit": torch.signbit,
    "conj": lambda x: torch.conj(x).resolve_conj(),
    "real": torch.real,
    "imag": torch.imag,
    "real_grad": lambda x: torch.complex(x, torch.zeros_like(x)),
    "imag_grad": lambda x: torch.complex(torch.zeros_like(x), x),
}
_BINARY: Final[dict[str, Any]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": quotient,
    "max": torch.maximum,
    "min": torch.minimum,
    "pow": torch.pow,
    "fmod": torch.fmod,
    "floor_div": divided("floor"),
    "trunc_div": divided("trunc"),
    "floor_mod": torch.remainder,
    "scalar_base_power_grad": lambda x, dy, exponent: slope(torch.pow)(dy, x, exponent),
    "scalar_exp_power_grad": lambda x, dy, base: slope(lambda leaf: power_of(base, leaf))(dy, x),
    "zeta": torch.special.zeta,
    "atan2": torch.atan2,
    "copysign": torch.copysign,
    "hypot": torch.hypot,
    "logaddexp": torch.logaddexp,
    "nextafter": torch.nextafter,
    "equal": torch.eq,
    "not_equal": torch.ne,
    "less_than": torch.lt,
    "less_equal": torch.le,
    "greater_than": torch.gt,
    "greater_equal": torch.ge,
    "is_close": is_close(equal_nan=False),
    "is_close_equal_nan": is_close(equal_nan=True),
    "logical_and": torch.logical_and,
    "logical_or": torch.logical_or,
    "logical_xor": torch.logical_xor,
    "bitwise_and": torch.bitwise_and,
    "bitwise_or": torch.bitwise_or,
    "bitwise_xor": torch.bitwise_xor,
    "shift_left": torch.bitwise_left_shift,
    "shift_right": torch.bitwise_right_shift,
}
_OF_RESULTS: Final[dict[str, Any]] = {
    "celu_backward_with_dy_y": celu_slope,
    "relu_backward_with_dy_y": lambda dy, y: _aten.threshold_backward(dy, y, 0),
    "hard_shrink_backward_with_dy_y": shrunk_hard,
    "hard_tanh_backward_with_dy_y": _aten.hardtanh_backward,
    "soft_shrink_backward_with_dy_y": shrunk_softly,
    "tanh_backward_with_dy_y": _aten.tanh_backward,
    "sigmoid_backward_with_dy_y": _aten.sigmoid_backward,
}
EXPRESSIONS: Final[dict[str, Any]] = {
    **_UNARY,
    **_BINARY,
    **{f"{name}_backward_with_dy_x": slope(function) for name, function in {**_ACTIVATIONS, **_SMOOTH}.items()},
    # The forward op has an attribute more than its gradient.
    "threshold_backward_with_dy_x": _aten.threshold_backward,
    **_OF_RESULTS,
}
"""Of every op of both tables; a few more gradients than there are rows do no harm."""
