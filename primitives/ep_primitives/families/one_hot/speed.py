"""The samples of OneHot."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample, between
from ep_primitives.families.one_hot import OneHot

__all__ = ["SAMPLES"]

_CONTENTS: Final = {"indices": between(0, 1000)}

SAMPLES: Final = [
    Sample(
        "8192x1000", OneHot.infer(TensorSpec("int64", (8192,)), "float32", 1000), {**_CONTENTS, "on": 1.0, "off": 0.0}
    ),
]
