"""The samples of Reduce: rows, columns and all elements of a matrix."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample, cached_rows
from ep_primitives.families.reduce import Reduce

__all__ = ["SAMPLES"]

_AXES: Final = {"rows": 1, "columns": 0, "all": None}


def _sample(op: str, dtype: str, what: str, shape: tuple[int, int] = (4096, 4096), *, is_quick: bool = False) -> Sample:
    name = f"{what}-of-{'x'.join(map(str, shape))}"
    few = TensorSpec(dtype, (cached_rows(shape[1]), shape[1]))
    cached = Reduce.infer(op, few, _AXES[what]) if op == "log_sum_exp" and what == "rows" else None
    return Sample(name, Reduce.infer(op, TensorSpec(dtype, shape), _AXES[what]), is_quick=is_quick, cached=cached)


SAMPLES: Final = [
    _sample("sum", "float32", "rows", (256, 256), is_quick=True),
    *(_sample("sum", dtype, what) for dtype in ("float32", "bfloat16", "float16") for what in _AXES),
    *(_sample("max", dtype, "rows") for dtype in ("float32", "bfloat16")),
    _sample("max", "float32", "columns"),
    _sample("mean", "float32", "rows", (1024, 1024)),
    _sample("norm_2", "float32", "all", (1024, 1024)),
    _sample("sum", "float64", "rows", (1024, 1024)),
    _sample("sum", "int32", "all", (1024, 1024)),
    _sample("log_sum_exp", "float32", "rows", (4096, 1024)),
]
