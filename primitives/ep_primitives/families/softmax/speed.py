"""The samples of the four descriptors of softmax: rows of a usual length, short and very long ones."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample, between
from ep_primitives.families.softmax import LogSoftmax, LogSoftmaxBackward, Softmax, SoftmaxBackward

__all__ = ["SAMPLES"]

_SHAPES: Final = ((4096, 1024), (32768, 128), (64, 262144))
_USUAL: Final = _SHAPES[0]


def _name(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


_X: Final = TensorSpec("float32", _USUAL)

SAMPLES: Final = [
    Sample("256x256", Softmax.infer(TensorSpec("float32", (256, 256))), is_quick=True),
    *(Sample(_name(shape), Softmax.infer(TensorSpec("float32", shape))) for shape in _SHAPES),
    Sample(_name(_USUAL), Softmax.infer(TensorSpec("bfloat16", _USUAL))),
    Sample(_name(_USUAL), Softmax.infer(TensorSpec("float16", _USUAL))),
    Sample(_name(_USUAL), LogSoftmax.infer(_X)),
    Sample(_name(_SHAPES[1]), LogSoftmax.infer(TensorSpec("float32", _SHAPES[1]))),
    Sample(_name(_USUAL), SoftmaxBackward.infer(_X, _X), {"y": between(0, 2 / _USUAL[1])}),
    Sample(_name(_USUAL), LogSoftmaxBackward.infer(_X, _X), {"y": between(-8, -6)}),
]
