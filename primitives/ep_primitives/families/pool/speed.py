"""The samples of Pool."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample
from ep_primitives.families.pool import Pool

__all__ = ["SAMPLES"]

_X: Final = TensorSpec("float32", (8, 64, 56, 56))
_FEW: Final = TensorSpec("float32", (1, 20, 56, 56))


def _sample(op: str, window: int, pads: int = 0) -> Sample:
    descriptor, cached = (Pool.infer(op, x, window, strides=2, pads=pads) for x in (_X, _FEW))
    return Sample(f"8x64x56x56-by-{window}x{window}{'-padded' * bool(pads)}", descriptor, cached=cached)


SAMPLES: Final = [_sample("max", 2), _sample("average", 3), _sample("max", 3, 1), _sample("average", 3, 1)]
