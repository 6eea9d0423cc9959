"""The samples of BroadcastBinary: one op at every size, every kind of operands that broadcast, and the element types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ep import Scalar, TensorSpec
from ep_primitives.cases.sample import CACHED, SIZES, Sample, between
from ep_primitives.families.broadcast_binary import BroadcastBinary

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SAMPLES"]

_LARGE: Final = {
    "float32": "add mul pow",
    "bfloat16": "add mul",
    "float16": "add mul",
    "int8": "add mul",
    "complex64": "add mul",
}
_SMALLER: Final = {
    "float32": "add sub div max pow less_than tanh_backward_with_dy_y silu_backward_with_dy_x gelu_backward_with_dy_x",
    "bfloat16": "gelu_backward_with_dy_x",
    "float64": "add mul",
    "int32": "add mul floor_div",
    "int64": "add",
    "bool": "logical_and",
}
_COMPUTED: Final = frozenset({"pow", "floor_div", "silu_backward_with_dy_x", "gelu_backward_with_dy_x"})
"""Ops whose elements take longer to compute than to add."""


def _sample(op: str, dtype: str, size: str, *, is_quick: bool = False) -> Sample:
    spec, few = (TensorSpec(dtype, (SIZES[each],)) for each in (size, CACHED))
    contents: Mapping[str, Any] = {}
    if op == "pow":
        contents = {"a": between(0.1, 4), "b": between(-3, 3)}
    elif op in {"div", "floor_div"}:
        contents = {"b": between(1, 8)}
    cached = BroadcastBinary.infer(op, few, few) if op in _COMPUTED else None
    return Sample(size, BroadcastBinary.infer(op, spec, spec), contents, is_quick=is_quick, cached=cached)


def _broadcast(name: str, op: str, a: tuple[int, ...], b: tuple[int, ...], dtype: str = "float32") -> Sample:
    return Sample(name, BroadcastBinary.infer(op, TensorSpec(dtype, a), TensorSpec(dtype, b)))


_IMAGES: Final = (32, 128, 64, 64)

SAMPLES: Final = [
    *(_sample("add", "float32", size, is_quick=True) for size in ("1", "1Ki", "64Ki")),
    *(_sample(op, dtype, "1Mi") for dtype, ops in _SMALLER.items() for op in ops.split()),
    *(_sample(op, dtype, "16Mi") for dtype, ops in _LARGE.items() for op in ops.split()),
    _broadcast("4096x4096+row", "add", (4096, 4096), (4096,)),
    _broadcast("4096x4096+column", "add", (4096, 4096), (4096, 1)),
    _broadcast("4096x4096+row", "add", (4096, 4096), (4096,), "bfloat16"),
    _broadcast("row*column", "mul", (4096, 1), (1, 4096)),
    _broadcast("images+channels", "add", _IMAGES, (128, 1, 1)),
    Sample(
        "16Mi*number",
        BroadcastBinary.infer("mul", TensorSpec("float32", (SIZES["16Mi"],)), Scalar("float32")),
        {"b": 1.5},
    ),
]
