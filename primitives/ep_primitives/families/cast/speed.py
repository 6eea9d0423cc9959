"""The samples of Cast: between the types that programs mix."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import SIZES, Sample, between
from ep_primitives.families.cast import Cast

__all__ = ["SAMPLES"]

_PAIRS: Final = (
    ("float32", "bfloat16"),
    ("float32", "float16"),
    ("float32", "int8"),
    ("float64", "float32"),
    ("bfloat16", "float32"),
    ("float16", "float32"),
    ("int8", "float32"),
)


def _sample(source: str, target: str, size: str, *, is_quick: bool = False) -> Sample:
    spec = TensorSpec(source, (SIZES[size],))
    return Sample(size, Cast.infer(spec, target), {"x": between(-100, 100)}, is_quick=is_quick)


SAMPLES: Final = [
    _sample("float32", "bfloat16", "64Ki", is_quick=True),
    _sample("int64", "float32", "1Mi"),
    _sample("float32", "bool", "1Mi"),
    *(_sample(source, target, "16Mi") for source, target in _PAIRS),
]
