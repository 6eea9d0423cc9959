"""The samples of the recurrent cells: one step of a batch."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample
from ep_primitives.families.recurrent_cell import GruCell, LstmCell

__all__ = ["SAMPLES"]

_H: Final = TensorSpec("float32", (64, 256))


def _weights(blocks: int) -> tuple[TensorSpec, TensorSpec]:
    return TensorSpec("float32", (64, blocks * 256)), TensorSpec("float32", (blocks * 256, 256))


_FOUR, _THREE = _weights(4), _weights(3)

SAMPLES: Final = [
    Sample("64x256", LstmCell.infer(_FOUR[0], _H, _H, _FOUR[1])),
    Sample("64x256", GruCell.infer(_THREE[0], _H, _THREE[1])),
]
