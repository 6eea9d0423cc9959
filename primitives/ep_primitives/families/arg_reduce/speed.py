"""The samples of ArgReduce: the largest of each row, of one long row, and of columns."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import CACHED, SIZES, Sample, cached_rows, distinct
from ep_primitives.families.arg_reduce import ArgReduce

__all__ = ["SAMPLES"]


def _sample(op: str, name: str, shape: tuple[int, ...], axis: int | None, *, is_quick: bool = False) -> Sample:
    few = (cached_rows(shape[-1]), shape[-1]) if len(shape) > 1 else (SIZES[CACHED],)
    descriptor, cached = (ArgReduce.infer(op, TensorSpec("float32", each), axis) for each in (shape, few))
    return Sample(name, descriptor, {"x": distinct}, is_quick=is_quick, cached=cached)


SAMPLES: Final = [
    _sample("max", "rows-of-256x256", (256, 256), 1, is_quick=True),
    _sample("max", "rows-of-4096x4096", (4096, 4096), 1),
    _sample("max", "columns-of-1024x1024", (1024, 1024), 0),
    _sample("min", "all-of-1Mi", (1 << 20,), None),
]
