"""The samples of Pad: images, by one on each side."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample
from ep_primitives.families.pad import Pad

__all__ = ["SAMPLES"]

_BY: Final = (0, 0, 1, 1)
_IMAGES: Final = (64, 128, 32, 32)

SAMPLES: Final = [
    Sample("64x128x32x32-by-1", Pad.infer("constant", TensorSpec("float32", _IMAGES), _BY, _BY), {"value": 0.5}),
    Sample("64x128x32x32-by-1", Pad.infer("constant", TensorSpec("bfloat16", _IMAGES), _BY, _BY), {"value": 0.5}),
    Sample("64x128x32x32-by-1", Pad.infer("reflect", TensorSpec("float32", _IMAGES), _BY, _BY)),
]
