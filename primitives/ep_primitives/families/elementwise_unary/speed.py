"""The samples of ElementwiseUnary: one op at every size, and each op that models use where it is bound by memory."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import CACHED, SIZES, Sample, between
from ep_primitives.families.elementwise_unary import ElementwiseUnary

__all__ = ["SAMPLES"]

_LIGHT: Final = frozenset({"relu", "abs", "negative"})
"""Of real numbers: nothing to compute."""
_POSITIVE: Final = {"x": between(0.01, 10)}
_LARGE: Final = {
    "float32": "relu exp sigmoid gelu tanh erf log sqrt sin tan soft_plus",
    "bfloat16": "abs gelu exp tanh sigmoid erf",
    "float16": "abs gelu exp",
}
_SMALLER: Final = {
    "float32": "silu rsqrt cos lgamma",
    "bfloat16": "relu silu log",
    "float16": "tanh sigmoid",
    "float64": "exp log tanh",
    "complex64": "abs exp",
    "int32": "abs",
    "int8": "abs negative",
}


def _sample(op: str, dtype: str, size: str, *, is_quick: bool = False) -> Sample:
    contents = _POSITIVE if op in {"log", "sqrt", "rsqrt", "lgamma"} else {}
    descriptor, cached = (ElementwiseUnary.infer(op, TensorSpec(dtype, (SIZES[each],))) for each in (size, CACHED))
    is_light = op in _LIGHT and not dtype.startswith("complex")
    return Sample(size, descriptor, contents, is_quick=is_quick, cached=None if is_light else cached)


SAMPLES: Final = [
    *(_sample(op, "float32", size, is_quick=True) for op in ("relu", "exp", "gelu") for size in ("1", "1Ki", "64Ki")),
    *(_sample(op, "float32", "1Mi") for op in ("relu", "exp", "gelu")),
    *(_sample("gelu", "bfloat16", size, is_quick=True) for size in ("1Ki", "64Ki")),
    *(_sample(op, dtype, "1Mi") for dtype, ops in _SMALLER.items() for op in ops.split()),
    *(_sample(op, dtype, "16Mi") for dtype, ops in _LARGE.items() for op in ops.split()),
]
