"""What PyTorch calls the operations of each family that is no table of elementwise ops.

From a descriptor and tensors, in the order of operands and None for an absent one, to a tensor, or to one for each output.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Final

import torch

from pytorch.recurrence import gru_cell, lstm_cell
from pytorch.tensors import widest

if TYPE_CHECKING:
    from collections.abc import Callable

    Tensor = torch.Tensor
    Expression = Callable[..., Tensor | dict[str, Tensor]]

__all__ = ["BARE", "FAMILIES"]

_PAD_MODES: Final = {"reflect": "reflect", "edge": "replicate", "circular": "circular"}
_REDUCTIONS: Final = {"max": "amax", "min": "amin", "log_sum_exp": "logsumexp"}
_NOTHING: Final = "not implemented for {}"
_ORDERS: Final = {"norm_1": 1, "norm_2": 2, "norm_inf": torch.inf}


def _where(descriptor: Any, condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    is_true = condition if condition.dtype == torch.bool else condition != 0
    return torch.where(is_true, a, b).expand(descriptor.out.shape)


def _add_n(descriptor: Any, *x: Tensor) -> Tensor:
    wide = widest(x[0])
    terms = [each.to(wide) for each in x]
    return functools.reduce(torch.add, terms).to(x[0].dtype).expand(descriptor.out.shape)


def _permute(descriptor: Any, x: Tensor) -> Tensor:
    return x.permute(descriptor.permutation)


def _tensor_fill(descriptor: Any, x: Tensor) -> Tensor:
    return x.reshape(()).expand(descriptor.out.shape)


def _pad(descriptor: Any, x: Tensor, value: Tensor | None = None) -> Tensor:
    sides = list(zip(descriptor.before, descriptor.after, strict=True))
    if value is not None:
        flat = [side for pair in reversed(sides) for side in pair]
        return torch.constant_pad_nd(x, flat, value.item())
    for dimension, pair in enumerate(sides):  # one dimension at a time, because PyTorch takes no more than three
        rows = x.movedim(dimension, -1)
        if any(pair) and rows.numel():
            padded = torch.nn.functional.pad(rows.reshape(1, -1, rows.shape[-1]), pair, mode=_PAD_MODES[descriptor.op])
        else:
            padded = rows.new_empty(*rows.shape[:-1], rows.shape[-1] + sum(pair)) if any(pair) else rows
        x = padded.reshape(*rows.shape[:-1], rows.shape[-1] + sum(pair)).movedim(-1, dimension)
    return x


def _bare_one_hot(descriptor: Any, indices: Tensor, on: Tensor, off: Tensor) -> Tensor:
    classes = descriptor.out.shape[descriptor.axis]
    is_on = torch.nn.functional.one_hot(indices.to(torch.int64) - descriptor.first, classes)
    return torch.where(is_on.to(torch.bool), on, off).movedim(-1, descriptor.axis)


def _one_hot(descriptor: Any, indices: Tensor, on: Tensor, off: Tensor) -> Tensor:
    classes, first = descriptor.out.shape[descriptor.axis], descriptor.first
    is_known = (indices >= first) & (indices <= first + classes - 1)
    places = torch.where(is_known, indices.to(torch.int64) - first, classes)
    is_on = torch.nn.functional.one_hot(places, classes + 1)[..., :-1]
    return torch.where(is_on.to(torch.bool), on, off).movedim(-1, descriptor.axis)


def _bare_gather(descriptor: Any, x: Tensor, indices: Tensor) -> Tensor:
    return _taken(x, indices, descriptor.axis, descriptor.batch_dims).reshape(descriptor.out.shape)


def _gather(descriptor: Any, x: Tensor, indices: Tensor) -> Tensor:
    x = torch.atleast_1d(x)
    axis, extent = descriptor.axis, x.shape[descriptor.axis]
    zeros = x.new_zeros((*x.shape[:axis], 1, *x.shape[axis + 1 :]))
    inside = (indices >= 0) & (indices < extent)
    return _bare_gather(descriptor, torch.cat([x, zeros], axis), torch.where(inside, indices, extent))


def _taken(x: Tensor, indices: Tensor, axis: int, batch_dims: int) -> Tensor:
    if not batch_dims:
        return x.index_select(axis, indices.reshape(-1))
    each = [_taken(*pair, axis - 1, batch_dims - 1) for pair in zip(x, indices, strict=True)]
    return torch.stack(each) if each else x.new_empty(0)


def _reduce(descriptor: Any, x: Tensor) -> Tensor:
    x, axes = (x, descriptor.axes) if descriptor.axes else (x.unsqueeze(-1), (x.ndim,))  # () means all axes to PyTorch
    op, out = descriptor.op, getattr(torch, descriptor.out.dtype)
    if op in _ORDERS:
        reduced = torch.linalg.vector_norm(x, _ORDERS[op], axes)
    elif op == "prod":  # which takes one axis
        kept = [dimension for dimension in range(x.ndim) if dimension not in axes]
        terms = math.prod(x.shape[axis] for axis in axes)
        reduced = (
            x.permute(*kept, *axes).reshape(*(x.shape[dimension] for dimension in kept), terms).prod(-1, dtype=out)
        )
    elif op == "sum":
        reduced = x.sum(axes, dtype=out)
    elif op == "sum_of_squares":
        wide = x.to(widest(x))
        parts = torch.view_as_real(wide) if wide.is_complex() else wide.unsqueeze(-1)
        reduced = parts.square().sum((*axes, parts.ndim - 1)).to(out)
    else:
        reduced = getattr(torch, _REDUCTIONS.get(op, op))(x, axes)
    return reduced.reshape(descriptor.out.shape)


def _arg_reduce(descriptor: Any, x: Tensor) -> Tensor:
    x = x.to(torch.uint8) if x.dtype == torch.bool else x
    found = (torch.argmax if descriptor.op == "max" else torch.argmin)(x, descriptor.axis)
    return found.reshape(descriptor.out.shape).to(getattr(torch, descriptor.out.dtype))


def _softmax(descriptor: Any, x: Tensor) -> Tensor:
    return torch.softmax(x, descriptor.axis)


def _log_softmax(descriptor: Any, x: Tensor) -> Tensor:
    return torch.log_softmax(x, descriptor.axis)


def _softmax_backward(descriptor: Any, dy: Tensor, y: Tensor) -> Tensor:
    return torch.ops.aten._softmax_backward_data(dy, y, descriptor.axis, y.dtype)  # noqa: SLF001 - it has no other name


def _log_softmax_backward(descriptor: Any, dy: Tensor, y: Tensor) -> Tensor:
    return torch.ops.aten._log_softmax_backward_data(dy, y, descriptor.axis, y.dtype)  # noqa: SLF001 - as above


def _layer_norm(descriptor: Any, x: Tensor, scale: Tensor | None, bias: Tensor | None) -> dict[str, Tensor]:
    shape = descriptor.x.shape[descriptor.axis :]
    made = torch.native_layer_norm(x, shape, scale, bias, descriptor.epsilon)
    named = dict(zip(("y", "mean", "rstd"), made, strict=True))
    wanted = descriptor.outputs.items()
    return {name: named[name].reshape(spec.shape).to(getattr(torch, spec.dtype)) for name, spec in wanted}


def _top_k(descriptor: Any, x: Tensor) -> dict[str, Tensor]:
    """Return the front of a stable sort: `torch.topk` leaves open which of equal elements it takes."""
    is_bool, is_largest = x.dtype == torch.bool, descriptor.op == "largest"
    keys = (x.view(torch.uint8) != 0).to(torch.uint8) if is_bool else x
    order = torch.sort(torch.atleast_1d(keys), descriptor.axis, descending=is_largest, stable=True).indices
    chosen = order.narrow(descriptor.axis, 0, descriptor.k)
    indices = chosen if descriptor.is_sorted else torch.sort(chosen, descriptor.axis).values
    values = torch.take_along_dim(torch.atleast_1d(x), indices, descriptor.axis)
    shape = descriptor.out.shape
    return {"values": values.reshape(shape), "indices": indices.reshape(shape)}


def _convolution(descriptor: Any, x: Tensor, w: Tensor, bias: Tensor | None) -> Tensor:
    sliding = descriptor.sliding
    if not descriptor.terms:
        raise RuntimeError(_NOTHING.format("images without channels"))
    flat = [side for pair in reversed([*zip(sliding.before, sliding.after, strict=True)]) for side in pair]
    call = _spatial("conv", len(sliding.window))
    given = [each if each is None or each.is_floating_point() else each.to(torch.float64) for each in (x, w, bias)]
    padded = torch.nn.functional.pad(given[0], flat)
    y = call(padded, *given[1:], sliding.strides, 0, sliding.dilations, descriptor.groups)
    return (
        y if x.is_floating_point() else y.to(torch.int64).to(torch.int32)
    )  # of integers it sums nothing wider than they


def _convolution_transposed(descriptor: Any, x: Tensor, w: Tensor, bias: Tensor | None) -> Tensor:
    """Return the whole, of which pads and what lies behind are cut here: PyTorch pads both sides alike."""
    sliding = descriptor.sliding
    if not descriptor.terms:
        raise RuntimeError(_NOTHING.format("images without channels"))
    call = _spatial("conv_transpose", len(sliding.window))
    whole = call(x, w, bias, sliding.strides, 0, 0, descriptor.groups, sliding.dilations)
    sides = zip(sliding.before, descriptor.out.shape[2:], whole.shape[2:], strict=True)
    counts = [(-before, before + extent - full) for before, extent, full in sides]
    more = [max(behind, 0) for _, behind in counts]
    if any(more):
        whole = call(x, w, bias, sliding.strides, 0, tuple(more), descriptor.groups, sliding.dilations)
    kept = [
        slice(before, before + extent) for before, extent in zip(sliding.before, descriptor.out.shape[2:], strict=True)
    ]
    return whole[(slice(None), slice(None), *kept)]


def _pool(descriptor: Any, x: Tensor) -> Tensor:
    sliding = descriptor.sliding
    dimensions = len(sliding.window)
    is_ceil = descriptor.out.shape[2:] != sliding.counts("", descriptor.x.shape[2:])
    if sliding.before != sliding.after or any(
        2 * pad > extent for pad, extent in zip(sliding.before, sliding.window, strict=True)
    ):
        raise RuntimeError(_NOTHING.format("these pads"))
    if descriptor.op == "max":
        call = _spatial("max_pool", dimensions)
        return call(x, sliding.window, sliding.strides, sliding.before, sliding.dilations, is_ceil)
    if set(sliding.dilations) != {1}:
        raise RuntimeError(_NOTHING.format("dilations"))
    if descriptor.op == "average":
        call = _spatial("avg_pool", dimensions)
        return call(x, sliding.window, sliding.strides, sliding.before, is_ceil, descriptor.counts_pads)
    if any(sliding.before):
        raise RuntimeError(_NOTHING.format("pads of norms"))
    call = _spatial("lp_pool", dimensions)
    window = sliding.window if dimensions > 1 else sliding.window[0]
    return call(x, _ORDERS[descriptor.op], window, sliding.strides, is_ceil)


def _spatial(name: str, dimensions: int) -> Any:
    """Return the function for so many spatial dimensions."""
    call = getattr(torch.nn.functional, f"{name}{dimensions}d", None)
    if call is None:
        raise RuntimeError(_NOTHING.format(f"{dimensions} dimensions"))
    return call


def _attention(descriptor: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """Return PyTorch's own attention in the compute type: it has no softcap, and no mask beside causality, of its own."""
    wide = widest(q)
    k, v = (each.repeat_interleave(descriptor.groups, -3) if descriptor.groups > 1 else each for each in (k, v))
    added = torch.zeros(descriptor.scores, dtype=wide)
    if mask is not None:
        is_bool = mask.dtype == torch.bool
        added = added.masked_fill(mask.view(torch.uint8) == 0, -torch.inf) if is_bool else added + mask
    if descriptor.is_causal:
        queries, keys = descriptor.scores[-2:]
        seen = torch.arange(keys) <= torch.arange(queries)[:, None] + descriptor.offset
        added = added.masked_fill(~seen, -torch.inf)
    q, k, v = q.to(wide), k.to(wide), v.to(wide)
    if descriptor.softcap:
        cap = descriptor.softcap
        p = torch.softmax(cap * torch.tanh(descriptor.scale * (q @ k.mT) / cap) + added, -1)
        return (torch.where((added == -torch.inf).all(-1, keepdim=True), 0, p) @ v).to(
            getattr(torch, descriptor.out.dtype)
        )
    found = torch.nn.functional.scaled_dot_product_attention(q, k, v, added, scale=descriptor.scale)
    return found.to(getattr(torch, descriptor.out.dtype))


def _group_norm(descriptor: Any, x: Tensor, scale: Tensor | None, bias: Tensor | None) -> Tensor:
    if not x.numel():
        return torch.empty_like(x)
    wide = widest(x)
    columns = [None if each is None else each.to(wide) for each in (scale, bias)]
    made = torch.group_norm(x.to(wide), descriptor.groups, *columns, descriptor.epsilon)
    return made.to(x.dtype)


def _rms_layer_norm(descriptor: Any, x: Tensor, scale: Tensor | None) -> Tensor:
    wide, shape = widest(x), descriptor.x.shape[descriptor.axis :]
    if not shape:  # PyTorch has no rows of rank 0
        x, shape = x.reshape(1), (1,)
    scale = None if scale is None else scale.to(wide).reshape(shape)
    made = torch.nn.functional.rms_norm(x.to(wide), shape, scale, descriptor.epsilon)
    return made.to(x.dtype).reshape(descriptor.out.shape)


def _batch_norm(descriptor: Any, x: Tensor, *given: Tensor | None) -> Tensor:
    wide = widest(x)
    columns = [None if each is None else each.to(wide) for each in given]
    rows = torch.atleast_2d(x.to(wide).movedim(descriptor.axis, -1)).movedim(-1, 1)
    made = torch.nn.functional.batch_norm(rows, *columns, eps=descriptor.epsilon).movedim(1, -1)
    shape = [extent for axis, extent in enumerate(x.shape) if axis != descriptor.axis]
    return made.reshape(*shape, made.shape[-1]).movedim(-1, descriptor.axis).to(x.dtype)


def _cross_entropy(descriptor: Any, x: Tensor, labels: Tensor, weights: Tensor | None) -> Tensor:
    """Return PyTorch's losses in the compute type; what does not count has its usual label, as it raises for what is no class."""
    wide, labels = widest(x), labels.to(torch.int64)
    counts = (labels >= 0) & (labels < x.shape[1])
    if descriptor.ignore_index is not None:
        counts &= labels != descriptor.ignore_index
    given = torch.where(counts, labels, -100)
    weights = None if weights is None else weights.to(wide)
    loss = torch.nn.functional.nll_loss if descriptor.is_log else torch.nn.functional.cross_entropy
    return loss(x.to(wide), given, weights, reduction=descriptor.reduction).to(x.dtype)


def _quantize(descriptor: Any, x: Tensor, scale: Tensor, zero_point: Tensor | None = None) -> Tensor:
    wide, limits = widest(x), torch.iinfo(getattr(torch, descriptor.out.dtype))
    steps = torch.round(x.to(wide) / _spread(descriptor, scale).to(wide)).double()
    moved = steps if zero_point is None else steps + _spread(descriptor, zero_point).double()
    counted = torch.where(steps.isnan(), 0.0, moved).clamp(limits.min, limits.max)
    return counted.to(getattr(torch, descriptor.out.dtype))


def _dequantize(descriptor: Any, x: Tensor, scale: Tensor, zero_point: Tensor | None = None) -> Tensor:
    wide = widest(scale)
    steps = x.to(wide) if zero_point is None else x.to(wide) - _spread(descriptor, zero_point).to(wide)
    return (steps * _spread(descriptor, scale).to(wide)).to(scale.dtype)


def _spread(descriptor: Any, each: Tensor) -> Tensor:
    """Return one scale an element along the axis where one stands for a block of them."""
    if not descriptor.block:
        return each
    return each.repeat_interleave(descriptor.block, descriptor.axis).narrow(
        descriptor.axis, 0, descriptor.x.shape[descriptor.axis]
    )


FAMILIES: Final[dict[str, Expression]] = {
    "where": _where,
    "add_n": _add_n,
    "permute": _permute,
    "tensor_fill": _tensor_fill,
    "pad": _pad,
    "one_hot": _one_hot,
    "gather": _gather,
    "reduce": _reduce,
    "arg_reduce": _arg_reduce,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "softmax_backward": _softmax_backward,
    "log_softmax_backward": _log_softmax_backward,
    "layer_norm": _layer_norm,
    "convolution": _convolution,
    "convolution_transposed": _convolution_transposed,
    "pool": _pool,
    "top_k": _top_k,
    "attention": _attention,
    "group_norm": _group_norm,
    "batch_norm": _batch_norm,
    "rms_layer_norm": _rms_layer_norm,
    "cross_entropy": _cross_entropy,
    "quantize": _quantize,
    "dequantize": _dequantize,
    "lstm_cell": lstm_cell,
    "gru_cell": gru_cell,
}

BARE: Final[dict[str, Expression]] = {"one_hot": _bare_one_hot, "gather": _bare_gather}
"""PyTorch's own of families whose expression above is guarded against indices out of range, at which this raises."""
