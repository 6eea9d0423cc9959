"""The layout of attention as attention.inc reads it: rows and columns of each operand, and its batches."""

from __future__ import annotations

import functools
import math
import struct
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from ep.layout.dims import broadcast_strides

from ep import TensorSpec
from ep_simt.program import Parameter
from ep_simt.program import struct as structure
from ep_simt.rows.geometry import packed_rows

if TYPE_CHECKING:
    from ep_primitives import Attention

    from ep import Scalar

__all__ = ["PLACES", "Layout", "attention_parameter"]

PLACES: Final = ("q", "k", "v", "mask", "out")
"""The columns of the geometry."""
_NUMBERS: Final = 19


class Layout(NamedTuple):
    """How the operands of a descriptor lie.

    batch    : extents; where q has more heads than k, its last two are k's heads and q's for each of them
    strides  : of each of PLACES, over the batch, rows and columns; 0 where it is absent
    """

    attention: Attention
    batch: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, attention: Attention) -> Self:
        """Return that of a descriptor."""
        batch, groups = attention.q.shape[:-2], attention.groups
        present = attention.present
        strides = tuple(_strides(attention, name, present.get(name)) for name in PLACES)
        return cls(attention, batch if groups == 1 else (*batch[:-1], batch[-1] // groups, groups), strides)

    @property
    def matrices(self) -> int:
        """The number of matrices of queries."""
        return math.prod(self.batch)

    def packed(self, *, wide: bool) -> tuple[bytes, bytes]:
        """Return the structure ep_attention and the geometry."""
        attention = self.attention
        (queries, depth), (keys, columns) = attention.q.shape[-2:], attention.v.shape[-2:]
        steps = [own[-2:] for own in self.strides]
        q, k, v = steps[:3]
        runs = (abs(q[1]) <= abs(q[0]), abs(k[1]) <= abs(k[0]), abs(v[0]) < abs(v[1]))
        ahead = min(max(attention.offset, -queries), keys)
        sizes = (queries, keys, depth, columns)
        numbers = (*sizes, *(step for own in steps for step in own), *runs, attention.is_causal, ahead)
        over = [own[:-2] for own in self.strides]
        return _form(wide=wide).pack(*numbers), packed_rows(self.batch, over, len(self.batch), wide=wide)


def attention_parameter(*, wide: bool) -> Parameter:
    """Return the parameter of the structure."""
    return structure("attention", "ep_attention", _form(wide=wide).size)


def _strides(attention: Attention, name: str, spec: TensorSpec | Scalar | None) -> tuple[int, ...]:
    groups = attention.groups
    if not isinstance(spec, TensorSpec):
        return (0,) * (attention.q.ndim + (groups > 1))
    strides = broadcast_strides(spec, attention.scores) if name == "mask" else spec.strides
    if groups == 1:
        return tuple(strides)
    *lead, heads, row, column = strides
    return (*lead, *((heads, 0) if name in {"k", "v"} else (heads * groups, heads)), row, column)


@functools.cache
def _form(*, wide: bool) -> struct.Struct:
    return struct.Struct(f"<{_NUMBERS}{'q' if wide else 'i'}")
