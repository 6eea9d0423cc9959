"""The samples of CrossEntropy."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample, between, cached_rows
from ep_primitives.families.cross_entropy import CrossEntropy

__all__ = ["SAMPLES"]

_CLASSES: Final = 1000


def _cross_entropy(rows: int) -> CrossEntropy:
    return CrossEntropy.infer(TensorSpec("float32", (rows, _CLASSES)), TensorSpec("int64", (rows,)))


SAMPLES: Final = [
    Sample(
        f"4096x{_CLASSES}",
        _cross_entropy(4096),
        {"labels": between(0, _CLASSES)},
        cached=_cross_entropy(cached_rows(_CLASSES)),
    ),
]
