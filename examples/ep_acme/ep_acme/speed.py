"""The samples of RmsNorm, which `ep-bench run` times on any provider that has it."""

from typing import Final

from ep_primitives.cases.sample import Sample

from ep import TensorSpec
from ep_acme.rms_norm import RmsNorm

__all__ = ["SAMPLES"]

_X: Final = TensorSpec("float32", (64, 64))

SAMPLES: Final = [Sample("64x64", RmsNorm.infer(_X, TensorSpec("float32", (64,))), is_quick=True)]
