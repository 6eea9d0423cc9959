"""The samples of Gather: rows of a table, long and short ones."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample, between
from ep_primitives.families.gather import Gather

__all__ = ["SAMPLES"]


def _sample(dtype: str, table: int, width: int, count: int, *, is_quick: bool = False) -> Sample:
    descriptor = Gather.infer(TensorSpec(dtype, (table, width)), TensorSpec("int64", (count,)), 0)
    return Sample(f"{count}-rows-of-{table}x{width}", descriptor, {"indices": between(0, table)}, is_quick=is_quick)


SAMPLES: Final = [
    _sample("float32", 1024, 64, 256, is_quick=True),
    _sample("float32", 32768, 768, 8192),
    _sample("bfloat16", 32768, 768, 8192),
    _sample("float32", 1 << 20, 4, 1 << 18),
]
