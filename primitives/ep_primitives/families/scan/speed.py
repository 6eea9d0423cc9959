"""The samples of Scan: running sums along rows, columns and one long row."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import CACHED, SIZES, Sample, cached_rows
from ep_primitives.families.scan import Scan

__all__ = ["SAMPLES"]


def _sample(name: str, dtype: str, shape: tuple[int, ...], few: tuple[int, ...], axis: int) -> Sample:
    descriptor, cached = (Scan.infer("sum", TensorSpec(dtype, each), axis) for each in (shape, few))
    return Sample(name, descriptor, cached=cached)


_ROWS: Final = (4096, 1024)
_FEW: Final = (cached_rows(1024), 1024)

SAMPLES: Final = [
    _sample("rows-of-4096x1024", "float32", _ROWS, _FEW, 1),
    _sample("columns-of-4096x1024", "float32", _ROWS, _FEW, 0),
    _sample("1Mi", "int32", (SIZES["1Mi"],), (SIZES[CACHED],), 0),
]
