"""The samples of RandomFill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ep import TensorSpec
from ep_primitives.cases.sample import CACHED, SIZES, Sample
from ep_primitives.families.random_fill import RandomFill

if TYPE_CHECKING:
    from ep_primitives.judging.reference import Array

__all__ = ["SAMPLES"]


def _state(rng: np.random.Generator, spec: TensorSpec) -> Array:
    """Return a seed, and word 0 as the next one."""
    del spec
    return np.array([rng.integers(1 << 32), 0], np.uint64)


def _sample(op: str, dtype: str, size: str, *, is_quick: bool = False) -> Sample:
    numbers = {"p": 0.25} if op == "bernoulli" else {}
    descriptor, cached = (RandomFill.infer(op, TensorSpec(dtype, (SIZES[each],))) for each in (size, CACHED))
    return Sample(size, descriptor, {"state": _state, **numbers}, is_quick=is_quick, cached=cached)


SAMPLES: Final = [
    _sample("uniform", "float32", "64Ki", is_quick=True),
    _sample("bernoulli", "bool", "1Mi"),
    *(_sample(op, dtype, "16Mi") for op in ("uniform", "normal") for dtype in ("float32",)),
    _sample("normal", "bfloat16", "1Mi"),
]
