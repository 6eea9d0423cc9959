"""Convolution and pooling: ONNX's windows in the families' form."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from ep_primitives import ArgReduce, Convolution, ConvolutionTransposed, Gather, Pool

from ep import TensorSpec
from ep_onnx.rules.rule import rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_onnx.interpreter import Call
    from ep_onnx.trace import Trace
    from ep_onnx.value import Value

__all__ = ["convolved"]


class _Windows(NamedTuple):
    """How windows lie, one number for each spatial dimension."""

    extents: list[int]
    strides: list[int]
    dilations: list[int]
    before: list[int]
    after: list[int]

    @property
    def pads(self) -> tuple[int, ...]:
        """All before, then all after."""
        return (*self.before, *self.after)

    @property
    def spans(self) -> list[int]:
        """The number of elements from the first of a window to its last, both included."""
        return [(extent - 1) * dilation + 1 for extent, dilation in zip(self.extents, self.dilations, strict=True)]


def _windows(node: Call, spatial: Sequence[int], extents: Sequence[int]) -> _Windows:
    """Return the attributes' windows; auto_pad spreads the pads that ceil(extent / stride) windows need."""
    rank = len(spatial)
    strides, dilations = node.get("strides", [1] * rank), node.get("dilations", [1] * rank)
    pads, auto = node.get("pads", [0] * 2 * rank), node.get("auto_pad", "NOTSET")
    if not extents or [len(each) for each in (extents, strides, dilations, pads)] != [rank, rank, rank, 2 * rank]:
        message = f"kernel_shape {extents}, strides {strides}, dilations {dilations} and pads {pads} are given for {rank} spatial dimensions; give one number for each of them, and two pads"
        raise ValueError(message)
    found = _Windows([*extents], [*strides], [*dilations], [*pads[:rank]], [*pads[rank:]])
    if auto in {"NOTSET", ""}:
        return found
    total = [0] * rank
    if auto != "VALID":
        counts = [-(-extent // stride) for extent, stride in zip(spatial, strides, strict=True)]
        total = [
            max((count - 1) * stride + span - extent, 0)
            for count, stride, span, extent in zip(counts, strides, found.spans, spatial, strict=True)
        ]
    return _shared_out(found, total, auto)


def _shared_out(windows: _Windows, total: Sequence[int], auto: str) -> _Windows:
    smaller, larger = [each // 2 for each in total], [each - each // 2 for each in total]
    before, after = (larger, smaller) if auto == "SAME_LOWER" else (smaller, larger)
    return windows._replace(before=before, after=after)


@rule("Conv")
def convolved(do: Trace, node: Call, x: Value, w: Value, bias: Value | None = None) -> Value:
    """Append a convolution with the windows that a node's attributes say."""
    windows = _windows(node, x.shape[2:], w.shape[2:])
    kernel = node.get("kernel_shape", [*w.shape[2:]])
    if [*kernel] != [*w.shape[2:]]:
        message = f"kernel_shape is {[*kernel]}, and the weights have {[*w.shape[2:]]}; give the extents of the weights"
        raise ValueError(message)

    def made(w: Value, bias: Value | None, place: Value | None = None) -> Value:
        descriptor = Convolution.infer(
            x.spec,
            w.spec,
            bias and bias.spec,
            strides=windows.strides,
            dilations=windows.dilations,
            pads=windows.pads,
            groups=node.get("group", 1),
            y=place and place.spec,
        )
        y = do.emit(descriptor, place, x=x, w=w, bias=bias)
        y.instead["place"] = lambda place: made(w, bias, place)
        if w.is_constant and (bias is None or bias.is_constant):
            y.instead["scale"] = lambda factor, offset: made(*_scaled(node, w, bias, factor, offset))
        return y

    return made(w, bias)


def _scaled(node: Call, w: Value, bias: Value | None, factor: Value, offset: Value) -> tuple[Value, Value]:
    """Return weights and bias such that a convolution's results are multiplied by a factor a channel plus an offset."""
    assert w.array is not None
    dtype = w.array.dtype
    wide = np.asarray(factor.array, np.float64)
    column = wide.reshape(-1, *[1] * (w.ndim - 1))
    moved = np.asarray(offset.array, np.float64)
    old = 0 if bias is None else np.asarray(bias.array, np.float64)
    values = (w, bias, factor, offset)
    return (
        node.lasting("weights", lambda: (np.asarray(w.array, np.float64) * column).astype(dtype), *values),
        node.lasting("bias", lambda: (old * wide + moved).astype(dtype), *values),
    )


@rule("ConvTranspose")
def _conv_transpose(do: Trace, node: Call, x: Value, w: Value, bias: Value | None = None) -> Value:
    spatial, rank = x.shape[2:], x.ndim - 2
    wanted, extra = node.get("output_shape"), node.get("output_padding", [0] * rank)
    auto = node.get("auto_pad", "NOTSET")
    strides, dilations = node.get("strides", [1] * rank), node.get("dilations", [1] * rank)
    pads = node.get("pads", [0] * 2 * rank)
    windows = _Windows([*w.shape[2:]], [*strides], [*dilations], [*pads[:rank]], [*pads[rank:]])
    if wanted is None and auto.startswith("SAME"):
        wanted = [extent * stride for extent, stride in zip(spatial, strides, strict=True)]
    if wanted is not None:
        wanted = wanted[-rank:]
        reached = [
            (extent - 1) * stride + span for extent, stride, span in zip(spatial, strides, windows.spans, strict=True)
        ]
        gone = [most + more - want for most, more, want in zip(reached, extra, wanted, strict=True)]
        extra = [more + max(-each, 0) for more, each in zip(extra, gone, strict=True)]
        # ONNX swaps the sides here: an odd pad goes before, unless auto_pad says SAME_UPPER.
        windows = _shared_out(
            windows, [max(each, 0) for each in gone], "SAME_UPPER" if auto == "SAME_UPPER" else "SAME_LOWER"
        )
    descriptor = ConvolutionTransposed.infer(
        x.spec,
        w.spec,
        bias and bias.spec,
        strides=windows.strides,
        dilations=windows.dilations,
        pads=windows.pads,
        extra=extra,
        groups=node.get("group", 1),
    )
    return do.emit(descriptor, None, x=x, w=w, bias=bias)


@rule("MaxPool", "AveragePool", "LpPool")
def _pool(do: Trace, node: Call, x: Value) -> Any:
    windows = _windows(node, x.shape[2:], node.get("kernel_shape", []))
    counts = _counts(node, x.shape[2:], windows)
    y = TensorSpec(x.dtype, (*x.shape[:2], *counts))
    p = node.get("p", 2)
    op = {"MaxPool": "max", "AveragePool": "average", "LpPool": f"norm_{p if p <= 2 else 1}"}[node.node.op]  # noqa: PLR2004
    is_power = node.node.op == "LpPool" and p > 2  # noqa: PLR2004 - the others are norms of the family
    if is_power:
        x = do.binary("pow", do.unary("abs", x), do.constant(p, x.dtype))
    words: dict[str, Any] = {"counts_pads": bool(node.get("count_include_pad", 0))} if op == "average" else {}
    descriptor = Pool.infer(
        op,
        x.spec,
        windows.extents,
        strides=windows.strides,
        dilations=windows.dilations,
        pads=windows.pads,
        y=y,
        **words,
    )
    made = do.emit(descriptor, None, x=x)
    if is_power:
        made = do.binary("pow", made, do.constant(1 / p, x.dtype))
    if len(node.node.outputs) == 1:
        return made
    return made, _places(do, node, x, windows, counts)


def _counts(node: Call, spatial: Sequence[int], windows: _Windows) -> list[int]:
    """Return how many windows there are; with ceil_mode the last one begins in x or in the pads before it."""
    counts = []
    for extent, span, stride, before, after in zip(
        spatial, windows.spans, windows.strides, windows.before, windows.after, strict=True
    ):
        room = extent + before + after - span
        count = (-(-room // stride) if node.get("ceil_mode", 0) else room // stride) + 1
        counts.append(count - 1 if (count - 1) * stride >= extent + before and count > 1 else count)
    return counts


def _places(do: Trace, node: Call, x: Value, windows: _Windows, counts: Sequence[int]) -> Value:
    """Append the place of each window's largest element among all of x."""
    spatial = x.shape[2:]
    behind = [
        max((count - 1) * stride + span - extent - before, 0)
        for count, stride, span, extent, before in zip(
            counts, windows.strides, windows.spans, spatial, windows.before, strict=True
        )
    ]
    lowest = -math.inf if x.dtype.startswith(("f", "b")) else np.iinfo(x.dtype).min
    padded = do.dense(do.pad(x, [0, 0, *windows.before], [0, 0, *behind], lowest))
    steps = padded.spec.strides
    strides = [step * stride for step, stride in zip(steps[2:], windows.strides, strict=True)]
    within = [step * dilation for step, dilation in zip(steps[2:], windows.dilations, strict=True)]
    seen = padded.windows((*x.shape[:2], *counts, *windows.extents), (*steps[:2], *strides, *within))
    rows = do.reshape(do.copy(seen), (*x.shape[:2], math.prod(counts), math.prod(windows.extents)))
    chosen = do.emit(ArgReduce.infer("max", rows.spec, -1, keepdims=True, dtype="int64"), None, x=rows)
    table = do.constant(_table(spatial, windows, counts, is_turned=bool(node.get("storage_order", 0))))
    table = table.expand((*x.shape[:2], *table.shape))
    inside = do.emit(Gather.infer(table.spec, chosen.spec, 3, batch_dims=3), None, x=table, indices=chosen)
    images = np.arange(math.prod(x.shape[:2]), dtype=np.int64).reshape(*x.shape[:2], 1, 1) * math.prod(spatial)
    return do.reshape(do.binary("add", inside, do.constant(images)), (*x.shape[:2], *counts))


def _table(spatial: Sequence[int], windows: _Windows, counts: Sequence[int], *, is_turned: bool) -> Any:
    """Return for each window and each of its elements the place in an image, counted along rows, or columns if turned."""
    weights = [math.prod(spatial[:axis] if is_turned else spatial[axis + 1 :]) for axis in range(len(spatial))]
    rows = []
    for window in itertools.product(*map(range, counts)):
        begins = [
            w * stride - before for w, stride, before in zip(window, windows.strides, windows.before, strict=True)
        ]
        rows.append(
            [
                sum(
                    (b + k * d) * weight
                    for b, k, d, weight in zip(begins, inner, windows.dilations, weights, strict=True)
                )
                for inner in itertools.product(*map(range, windows.extents))
            ]
        )
    return np.array(rows, np.int64)


@rule("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def _global_pool(do: Trace, node: Call, x: Value) -> Value:
    op = {"GlobalAveragePool": "mean", "GlobalMaxPool": "max", "GlobalLpPool": f"norm_{node.get('p', 2)}"}[node.node.op]
    return do.reduce(op, x, range(2, x.ndim))


@rule("MaxUnpool")
def _max_unpool(do: Trace, node: Call, x: Value, indices: Value, shape: Value | None = None) -> Any:
    from ep_onnx.rules.indexing import scattered  # noqa: PLC0415 - one of a kind

    windows = _windows(node, x.shape[2:], node.get("kernel_shape", []))
    extents = zip(x.shape[2:], windows.strides, windows.spans, windows.before, windows.after, strict=True)
    spatial = [(extent - 1) * stride + span - low - high for extent, stride, span, low, high in extents]
    places = do.host(indices).reshape(-1)
    made = scattered(do, do.full(x.dtype, [*x.shape[:2], *spatial], 0), places, do.reshape(x, (x.size,)), "none")
    if shape is None:
        return made
    more = [int(wanted) - extent for wanted, extent in zip(do.host(shape), made.shape, strict=True)]
    return do.pad(made, [0] * x.ndim, more)


@rule("ConvInteger")
def _conv_integer(
    do: Trace, node: Call, x: Value, w: Value, x_zero: Value | None = None, w_zero: Value | None = None
) -> Value:
    def wide(each: Value, zero: Value | None) -> Value:
        made = do.cast(each, "float64")
        if zero is None:
            return made
        point = do.cast(zero, "float64")
        return do.binary(
            "sub", made, do.reshape(point, (point.size, *[1] * (each.ndim - 1))) if point.size > 1 else point
        )

    return do.cast(convolved(do, node, wide(x, x_zero), wide(w, w_zero)), "int32")


@rule("Col2Im")
def _col2im(do: Trace, node: Call, x: Value, image: Value, block: Value) -> Value:
    """Each element of a block is a strided part of the image, onto which it is added."""
    spatial, extents = ([int(each) for each in do.host(given)] for given in (image, block))
    rank = len(spatial)
    strides, dilations = node.get("strides", [1] * rank), node.get("dilations", [1] * rank)
    pads = node.get("pads", [0] * 2 * rank)
    windows = _Windows(extents, [*strides], [*dilations], [*pads[:rank]], [*pads[rank:]])
    sizes = zip(spatial, windows.spans, windows.before, windows.after, windows.strides, strict=True)
    counts = [(extent + low + high - span) // stride + 1 for extent, span, low, high, stride in sizes]
    channels = x.shape[1] // math.prod(extents)
    parts = do.reshape(x, (x.shape[0], channels, math.prod(extents), *counts))
    padded = [extent + low + high for extent, low, high in zip(spatial, windows.before, windows.after, strict=True)]
    out = do.full(x.dtype, (x.shape[0], channels, *padded), 0)
    for place, inner in enumerate(itertools.product(*map(range, extents))):
        begins = [k * dilation for k, dilation in zip(inner, windows.dilations, strict=True)]
        lies = zip(begins, counts, windows.strides, strict=True)
        target = out[(..., *[slice(begin, begin + (count - 1) * stride + 1, stride) for begin, count, stride in lies])]
        do.binary("add", target, parts[:, :, place], out=target)
    kept = zip(windows.before, spatial, strict=True)
    return out[(..., *[slice(low, low + extent) for low, extent in kept])]
