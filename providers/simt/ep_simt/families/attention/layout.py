"""The layout of attention as attention.inc reads it: rows and columns of each operand, and its batches."""

from __future__ import annotations

import functools
import itertools
import struct
from typing import TYPE_CHECKING, Final

from ep_simt.program import Parameter
from ep_simt.program import struct as structure
from ep_simt.rows.geometry import packed_rows

if TYPE_CHECKING:
    from ep_primitives import Attention

__all__ = ["PLACES", "attention_parameter", "packed_layout"]

PLACES: Final = ("q", "k", "v", "mask", "out")
"""The columns of the geometry."""
_NUMBERS: Final = 19


def packed_layout(attention: Attention, *, wide: bool) -> tuple[bytes, bytes]:
    """Return the structure ep_attention, and the geometry of the batches."""
    (queries, depth), (keys, columns) = attention.q.shape[-2:], attention.v.shape[-2:]
    strides, batch = [attention.steps(name) for name in PLACES], attention.batch
    steps = [own[-2:] for own in strides]
    q, k, v = steps[:3]
    runs = (abs(q[1]) <= abs(q[0]), abs(k[1]) <= abs(k[0]), abs(v[0]) < abs(v[1]))
    ahead = min(max(attention.offset, -queries), keys)
    flags = (*runs, attention.is_causal)
    numbers = (queries, keys, depth, columns, *itertools.chain(*steps), *flags, ahead)
    over = [own[:-2] for own in strides]
    return _form(wide=wide).pack(*numbers), packed_rows(batch, over, len(batch), wide=wide)


def attention_parameter(*, wide: bool) -> Parameter:
    """Return the parameter of the structure."""
    return structure("attention", "ep_attention", _form(wide=wide).size)


@functools.cache
def _form(*, wide: bool) -> struct.Struct:
    return struct.Struct(f"<{_NUMBERS}{'q' if wide else 'i'}")
