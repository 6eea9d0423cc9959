"""The samples of the four descriptors of softmax: rows of a usual length, short and very long ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from ep import TensorSpec
from ep_primitives.cases.sample import Sample, between, cached_rows, usual
from ep_primitives.families.softmax import LogSoftmax, LogSoftmaxBackward, Softmax, SoftmaxBackward

if TYPE_CHECKING:
    from ep_primitives.judging.reference import Array

__all__ = ["SAMPLES"]

_SHAPES: Final = ((4096, 1024), (32768, 128), (64, 262144))
_USUAL: Final = _SHAPES[0]
_QUICK: Final = (256, 256)


def _name(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


_X: Final = TensorSpec("float32", _USUAL)
_FEW: Final = TensorSpec("float32", (cached_rows(_USUAL[1]), _USUAL[1]))


def _sample(family: type[Softmax | LogSoftmax], shape: tuple[int, int], dtype: str = "float32") -> Sample:
    rows, width = shape
    few = cached_rows(width)
    cached = family.infer(TensorSpec(dtype, (few, width))) if 1 < few < rows else None
    return Sample(_name(shape), family.infer(TensorSpec(dtype, shape)), is_quick=shape == _QUICK, cached=cached)


def _causal(rng: np.random.Generator, spec: TensorSpec) -> Array:
    """Scores of which each row sees one more than the row before, and the others are -inf."""
    rows, width = spec.shape
    sees = np.arange(width) <= np.arange(rows)[:, None] % width
    x = usual(rng, spec)
    return np.where(sees, x, np.array(-math.inf, x.dtype))


SAMPLES: Final = [
    _sample(Softmax, _QUICK),
    *(_sample(Softmax, shape) for shape in _SHAPES),
    Sample(f"{_name(_USUAL)}-causal", Softmax.infer(_X), {"x": _causal}, cached=Softmax.infer(_FEW)),
    *(_sample(Softmax, _USUAL, dtype) for dtype in ("bfloat16", "float16")),
    *(_sample(LogSoftmax, shape) for shape in _SHAPES[:2]),
    Sample(_name(_USUAL), SoftmaxBackward.infer(_X, _X), {"y": between(0, 2 / _USUAL[1])}),
    Sample(
        _name(_USUAL),
        LogSoftmaxBackward.infer(_X, _X),
        {"y": between(-8, -6)},
        cached=LogSoftmaxBackward.infer(_FEW, _FEW),
    ),
]
