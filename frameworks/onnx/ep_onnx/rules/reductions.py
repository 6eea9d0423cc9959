"""Sums, extremes and places of extremes along axes, softmax, running sums, sorting."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from ep_primitives import ArgReduce, LogSoftmax, Scan, Softmax, TopK

from ep_onnx.rules.rule import rule
from ep_onnx.rules.shapes import integers

if TYPE_CHECKING:
    from ep_onnx.interpreter import Call
    from ep_onnx.trace import Trace
    from ep_onnx.value import Value

__all__: list[str] = []

_OPS: Final = {
    "ReduceSum": "sum", "ReduceProd": "prod", "ReduceMean": "mean", "ReduceMax": "max", "ReduceMin": "min",
    "ReduceL1": "norm_1", "ReduceL2": "norm_2", "ReduceSumSquare": "sum_of_squares", "ReduceLogSumExp": "log_sum_exp",
    "ReduceLogSum": "sum",
}  # fmt: skip
_LAST: Final = 13


@rule(*_OPS)
def _reduce(do: Trace, node: Call, x: Value, axes: Value | None = None) -> Value:
    along, keeps, name = integers(do, node, "axes", axes), bool(node.get("keepdims", 1)), node.node.op
    if not along:
        along = [] if along is not None and node.get("noop_with_empty_axes", 0) else None
        if along is None and node.get("noop_with_empty_axes", 0):
            along = []
    if x.dtype.startswith(("int", "uint")):
        return do.cast(_reduced_integers(do, name, x, along, keeps=keeps), x.dtype)
    made = do.reduce(_OPS[name], x, along, keeps=keeps)
    return do.unary("log", made) if name == "ReduceLogSum" else made


def _reduced_integers(do: Trace, name: str, x: Value, along: list[int] | None, *, keeps: bool) -> Value:
    """Append a reduction of integers, in their own type or a wider one. Sums and products wrap around as those of NumPy do."""
    op = _OPS[name]
    if op in {"norm_2", "log_sum_exp"}:
        return do.reduce(op, do.cast(x, "float64"), along, keeps=keeps)
    if name == "ReduceLogSum":
        return do.unary("log", do.cast(do.reduce(op, x, along, keeps=keeps), "float64"))
    if op == "mean":
        total = do.reduce("sum", x, along, keeps=keeps)
        return do.binary("div", total, do.constant(max(x.size // max(total.size, 1), 1), total.dtype))
    if op == "norm_1":
        op, x = "sum", do.unary("abs", x) if x.dtype.startswith("int") else x
    if op == "sum_of_squares":
        op, x = "sum", do.binary("mul", x, x)
    return do.reduce(op, x, along, keeps=keeps, dtype=x.dtype)


@rule("ArgMax", "ArgMin")
def _arg_reduce(do: Trace, node: Call, x: Value) -> Value:
    axis, is_last = node.axis(x.ndim, 0), node.get("select_last_index", 0)
    seen = x[(*(slice(None),) * axis, slice(None, None, -1))] if is_last else x
    op = node.node.op[3:].lower()
    made = do.emit(
        ArgReduce.infer(op, seen.spec, axis, keepdims=bool(node.get("keepdims", 1)), dtype="int64"), None, x=seen
    )
    return do.binary("sub", do.constant(x.shape[axis] - 1, "int64"), made) if is_last else made


@rule("Softmax", "LogSoftmax")
def _softmax(do: Trace, node: Call, x: Value) -> Value:
    family = Softmax if node.node.op == "Softmax" else LogSoftmax
    if node.version >= _LAST:
        return do.emit(family.infer(x.spec, node.get("axis", -1)), None, x=x)
    axis = node.axis(x.ndim, 1)
    rows = do.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))
    return do.reshape(do.emit(family.infer(rows.spec, -1), None, x=rows), x.shape)


@rule("Hardmax")
def _hardmax(do: Trace, node: Call, x: Value) -> Value:
    from ep_primitives import OneHot  # noqa: PLC0415 - rare

    shape, axis = x.shape, node.axis(x.ndim, -1 if node.version >= _LAST else 1)
    if node.version < _LAST:
        x, axis = do.reshape(x, (math.prod(shape[:axis]), math.prod(shape[axis:]))), 1
    places = do.emit(ArgReduce.infer("max", x.spec, axis, dtype="int64"), None, x=x)
    return do.reshape(
        do.emit(OneHot.infer(places.spec, x.dtype, x.shape[axis], axis=axis), None, indices=places), shape
    )


@rule("CumSum", "CumProd")
def _scan(do: Trace, node: Call, x: Value, axis: Value) -> Value:
    op = "sum" if node.node.op == "CumSum" else "prod"
    flags = {word: bool(node.get(word, 0)) for word in ("exclusive", "reverse")}
    return do.emit(Scan.infer(op, x.spec, int(do.host(axis).item()), **flags), None, x=x)


@rule("TopK")
def _top_k(do: Trace, node: Call, x: Value, k: Value | None = None) -> Any:
    count = integers(do, node, "k", k)
    count = count[0] if isinstance(count, list) else count
    op = "largest" if node.get("largest", 1) else "smallest"
    descriptor = TopK.infer(op, x.spec, count, node.get("axis", -1), sorted=bool(node.get("sorted", 1)))
    made = do.launch(descriptor, x=x)
    return made["values"], made["indices"]
