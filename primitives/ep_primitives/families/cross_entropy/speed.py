"""The samples of CrossEntropy."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample, between
from ep_primitives.families.cross_entropy import CrossEntropy

__all__ = ["SAMPLES"]

SAMPLES: Final = [
    Sample(
        "4096x1000",
        CrossEntropy.infer(TensorSpec("float32", (4096, 1000)), TensorSpec("int64", (4096,))),
        {"labels": between(0, 1000)},
    ),
]
