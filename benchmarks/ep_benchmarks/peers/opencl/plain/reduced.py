"""Plain kernels of reductions and running sums: a group a row, a work-item a column, all elements in two stages."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import ep
from ep_benchmarks.peers.opencl.plain.launch import Launch, Work, over, parameters, row_launch
from ep_benchmarks.peers.opencl.plain.program import number_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_benchmarks.peers.opencl.plain.launch import Form

__all__ = ["FORMS", "joined"]

_PART: Final = 4096
"""Elements that a group joins in the first of two stages; in the second one a single group joins what they found."""
_GROUP: Final = 256
"""Work-items of a group that sums: measured on PoCL, a quarter quicker than 64, which do better where more than a sum is made."""
_SUM: Final = {"INITIAL": "0", "JOIN(u, v)": "u + v", "OF_GROUP": "sum_of_group", "TERM": "v", "RESULT": "joined"}
_MAX: Final = {**_SUM, "INITIAL": "-INFINITY", "JOIN(u, v)": "(u > v ? u : v)", "OF_GROUP": "max_of_group"}
_OPS: Final[Mapping[str, Mapping[str, str]]] = {
    "sum": _SUM,
    "max": _MAX,
    "mean": {**_SUM, "RESULT": "joined / COUNT"},
    "norm_2": {**_SUM, "TERM": "v * v", "RESULT": "sqrt(joined)"},
}


def joined(op: str, operands: Mapping[str, str], rows: int, width: int, out: ep.TensorSpec) -> Launch:
    """Return the launch that joins each of so many rows by sum, max, mean or norm_2.

    operands : x and out of the text
    out      : the operand whose numbers are computed with
    """
    return row_launch("reduce", operands, rows, out, {**_OPS[op], "WIDTH": width, "COUNT": width}, _GROUP)


def _reduce(descriptor: Any) -> Work | None:
    x, out, op = descriptor.x, descriptor.out, descriptor.op
    last = tuple(range(x.ndim - len(descriptor.axes), x.ndim))
    width = math.prod(x.shape[at] for at in descriptor.axes)
    operands = {"x": "x", "out": "out"}
    if not x.is_dense or (op == "max" and not out.dtype.startswith("float")):
        return None
    if op == "log_sum_exp" and descriptor.axes == last:
        words = {"PARAMETERS": "X_PARAMETER", "LESS": 0, "WIDTH": width}
        return Work([row_launch("log_sum_exp", operands, out.size, out, words)])
    if op not in _OPS:
        return None
    if out.size == 1:
        return _all(descriptor, width)
    if descriptor.axes == last:
        return Work([joined(op, operands, out.size, width, out)])
    if descriptor.axes != tuple(range(len(descriptor.axes))):
        return None
    words = {**_OPS[op], "NUMBER": number_of(out), "HEIGHT": width, "WIDTH": out.size, "COUNT": width}
    return over("rows/columns", ("x", "out"), (out.size,), words)


def _all(descriptor: Any, count: int) -> Work | None:
    """Return the two stages of a reduction of all elements: the terms joined in parts, then the parts."""
    parts = count // _PART
    if count % _PART:
        return None
    out, words = descriptor.out, _OPS[descriptor.op]
    stored = ep.TensorSpec("float32" if out.dtype == "float16" else out.dtype, (parts,))
    first = {**words, "RESULT": "joined", "WIDTH": _PART}
    second = {**words, "TERM": "v", "WIDTH": parts, "COUNT": count}
    launches = [
        row_launch("reduce", {"x": "x", "out": "parts"}, parts, out, first, _GROUP),
        row_launch("reduce", {"x": "parts", "out": "out"}, 1, out, second, _GROUP),
    ]
    return Work(launches, {"parts": stored})


def _arg_reduce(descriptor: Any) -> Work | None:
    x, axis = descriptor.x, descriptor.axes[0]
    better = {"IS_BETTER(u, v)": "u > v" if descriptor.op == "max" else "u < v"}
    if not x.is_dense:
        return None
    if x.ndim == 1:
        return _arg_all(x, better)
    width = x.shape[axis]
    if axis == x.ndim - 1:
        words = {**better, "PARAMETERS": "X_PARAMETER", "PLACE(i)": "row * WIDTH + i", "RESULT": "best", "WIDTH": width}
        return Work([row_launch("arg_reduce", {"x": "x", "out": "out"}, descriptor.out.size, x, words)])
    if axis:
        return None
    words = {**better, "HEIGHT": width, "WIDTH": descriptor.out.size}
    return over("rows/arg_columns", ("x", "out"), (descriptor.out.size,), words)


def _arg_all(x: ep.TensorSpec, better: Mapping[str, str]) -> Work | None:
    """Return two stages: the best place of each part, then the best of these."""
    parts = x.size // _PART
    if x.size % _PART:
        return None
    first = {"PARAMETERS": "X_PARAMETER", "PLACE(i)": "row * WIDTH + i", "RESULT": "row * WIDTH + best"}
    second = {"PARAMETERS": parameters(["x", "found"]), "PLACE(i)": "FOUND(i)", "RESULT": "FOUND(best)"}
    launches = [
        row_launch("arg_reduce", {"x": "x", "out": "parts"}, parts, x, {**better, **first, "WIDTH": _PART}),
        row_launch(
            "arg_reduce", {"x": "x", "found": "parts", "out": "out"}, 1, x, {**better, **second, "WIDTH": parts}
        ),
    ]
    return Work(launches, {"parts": ep.TensorSpec("int64", (parts,))})


def _scan(descriptor: Any) -> Work | None:
    x, axis = descriptor.x, descriptor.axis
    rows = x.size // x.shape[axis]
    if descriptor.op != "sum" or descriptor.exclusive or descriptor.reverse or rows == 1 or not x.is_dense:
        return None  # a work-item for a single row is no form, and a scan of several groups is no short text
    words = {"EXTENT": x.shape[axis], "INNER": math.prod(x.shape[axis + 1 :])}
    return over("rows/scan", ("x", "out"), (rows,), words)


FORMS: Final[Mapping[str, Form]] = {"reduce": _reduce, "arg_reduce": _arg_reduce, "scan": _scan}
"""By family, from a descriptor to its launches, None without a form."""
