"""PyTorch's forms of reductions, products, norms and windows. Those of the last two allocate: they have no out=."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch import Tensor

__all__ = ["FORMS"]

_REDUCTIONS: Final[dict[str, Any]] = {
    "sum": torch.sum,
    "mean": torch.mean,
    "max": torch.amax,
    "min": torch.amin,
    "log_sum_exp": torch.logsumexp,
}
_PLANE: Final = 4
"""The rank of a batch of images."""
_aten: Final = torch.ops.aten


def _reduce(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any] | None:
    x, out, axes = given["x"], outs["out"], tuple(descriptor.axes)
    keeps = out.ndim == x.ndim
    if descriptor.op == "norm_2":
        return lambda: torch.linalg.vector_norm(x, 2, axes, keepdim=keeps, out=out)
    function = _REDUCTIONS.get(descriptor.op)
    typed = {"dtype": out.dtype} if descriptor.op == "sum" else {}
    return function and partial(function, x, axes, keepdim=keeps, out=out, **typed)


def _arg_reduce(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any]:
    x, out = given["x"], outs["out"]
    axis = descriptor.axes[0] if x.ndim > 1 else None
    function = {"max": torch.argmax, "min": torch.argmin}[descriptor.op]
    return lambda: function(x, axis, out=out)


def _scan(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any] | None:
    x, axis, out = given["x"], descriptor.axis, outs["out"]
    if descriptor.op != "sum" or descriptor.exclusive or descriptor.reverse:
        return None
    return lambda: torch.cumsum(x, axis, dtype=out.dtype, out=out)


def _softmax(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any]:
    x, axis, out = given["x"], descriptor.axis, outs["out"]
    function = getattr(torch, f"_{descriptor.family}")
    return lambda: function(x, axis, False, out=out)  # noqa: FBT003 - it has no name


def _softmax_backward(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any]:
    dy, y, axis, out = given["dy"], given["y"], descriptor.axis, outs["dx" if "dx" in outs else "out"]
    if descriptor.family == "softmax_backward":
        return lambda: _aten._softmax_backward_data.out(dy, y, axis, y.dtype, grad_input=out)  # noqa: SLF001 - its name
    return lambda: _aten._log_softmax_backward_data.out(dy, y, axis, y.dtype, out=out)  # noqa: SLF001 - its name


def _top_k(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any] | None:
    x, k, both = given["x"], descriptor.k, (outs["values"], outs["indices"])
    if not descriptor.sorted:
        return None
    return lambda: torch.topk(x, k, descriptor.axis, descriptor.op == "largest", out=both)


def _matmul(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any] | None:
    a, b, out = given["a"], given["b"], outs["out"]
    if descriptor.a.dtype != descriptor.out.dtype:
        is_plain = a.dtype == torch.int8 and a.ndim == b.ndim == 2 and "bias" not in given  # noqa: PLR2004 - matrices
        return (lambda: torch._int_mm(a, b, out=out)) if is_plain else None  # noqa: SLF001 - its only name
    if "bias" not in given:
        return None if descriptor.activation != "none" else (lambda: torch.matmul(a, b, out=out))
    bias = given["bias"]
    if descriptor.activation == "none":
        return lambda: torch.addmm(bias, a, b, out=out)
    if descriptor.activation != "gelu":
        return None

    def layer() -> None:
        torch.addmm(bias, a, b, out=out)
        torch._C._nn.gelu_(out)  # noqa: SLF001 - its only name

    return layer


def _attention(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any] | None:
    del outs
    if descriptor.softcap or "mask" in given or descriptor.offset or descriptor.groups > 1:
        return None
    call = functional.scaled_dot_product_attention
    q, k, v = given["q"], given["k"], given["v"]
    return partial(call, q, k, v, is_causal=bool(descriptor.is_causal), scale=descriptor.scale)


def _layer_norm(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any] | None:
    if len(outs) > 1:
        return None
    shape = descriptor.x.shape[descriptor.axis :]
    return partial(torch.layer_norm, given["x"], shape, given.get("scale"), given.get("bias"), descriptor.epsilon)


def _rms_layer_norm(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any]:
    del outs
    shape = descriptor.x.shape[descriptor.axis :]
    return partial(torch.rms_norm, given["x"], shape, given.get("scale"), descriptor.epsilon)


def _group_norm(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any]:
    del outs
    return partial(
        torch.group_norm, given["x"], descriptor.groups, given.get("scale"), given.get("bias"), descriptor.epsilon
    )


def _batch_norm(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any] | None:
    del outs
    if descriptor.axis != 1:
        return None
    columns = [given.get(name) for name in ("mean", "variance", "scale", "bias")]
    return partial(functional.batch_norm, given["x"], *columns, eps=descriptor.epsilon)


def _convolution(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any] | None:
    del outs
    sliding, x = descriptor.sliding, given["x"]
    if x.ndim != _PLANE or sliding.before != sliding.after or not x.is_floating_point():
        return None
    rest = sliding.strides, sliding.before, sliding.dilations, descriptor.groups
    return partial(torch.conv2d, x, given["w"], given.get("bias"), *rest)


def _convolution_transposed(
    descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]
) -> Callable[[], Any] | None:
    del outs
    sliding, x = descriptor.sliding, given["x"]
    if x.ndim != _PLANE or sliding.before != sliding.after or not x.is_floating_point():
        return None
    return partial(
        functional.conv_transpose2d,
        x,
        given["w"],
        given.get("bias"),
        stride=sliding.strides,
        padding=sliding.before,
        groups=descriptor.groups,
        dilation=sliding.dilations,
    )


def _pool(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any] | None:
    del outs
    sliding, x = descriptor.sliding, given["x"]
    if x.ndim != _PLANE or any((*sliding.before, *sliding.after)) or set(sliding.dilations) != {1}:
        return None
    calls: dict[str, Any] = {"max": torch.max_pool2d, "average": functional.avg_pool2d}
    function = calls.get(descriptor.op)
    return function and partial(function, x, sliding.window, sliding.strides)


def _cross_entropy(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any] | None:
    del outs
    if descriptor.is_log or descriptor.ignore_index is not None:
        return None
    call = functional.cross_entropy
    return partial(call, given["x"], given["labels"], given.get("weights"), reduction=descriptor.reduction)


FORMS: Final = {
    "reduce": _reduce,
    "arg_reduce": _arg_reduce,
    "scan": _scan,
    "softmax": _softmax,
    "log_softmax": _softmax,
    "softmax_backward": _softmax_backward,
    "log_softmax_backward": _softmax_backward,
    "top_k": _top_k,
    "matmul": _matmul,
    "attention": _attention,
    "layer_norm": _layer_norm,
    "rms_layer_norm": _rms_layer_norm,
    "group_norm": _group_norm,
    "batch_norm": _batch_norm,
    "convolution": _convolution,
    "convolution_transposed": _convolution_transposed,
    "pool": _pool,
    "cross_entropy": _cross_entropy,
}
