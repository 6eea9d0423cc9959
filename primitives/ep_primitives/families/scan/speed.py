"""The samples of Scan: running sums along rows, columns and one long row."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample
from ep_primitives.families.scan import Scan

__all__ = ["SAMPLES"]

SAMPLES: Final = [
    Sample("rows-of-4096x1024", Scan.infer("sum", TensorSpec("float32", (4096, 1024)), 1)),
    Sample("columns-of-4096x1024", Scan.infer("sum", TensorSpec("float32", (4096, 1024)), 0)),
    Sample("1Mi", Scan.infer("sum", TensorSpec("int32", (1 << 20,)), 0)),
]
