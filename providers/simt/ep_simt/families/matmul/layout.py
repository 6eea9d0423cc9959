"""The layout of a product as matmul.inc reads it: its batches, merged, and its matrices."""

from __future__ import annotations

import functools
import math
import struct
from typing import TYPE_CHECKING, Final, NamedTuple

from ep.layout.dims import broadcast_strides

from ep_simt.program import Parameter
from ep_simt.program import struct as structure
from ep_simt.rows.geometry import packed_rows

if TYPE_CHECKING:
    from ep_primitives import Matmul

__all__ = ["OPERANDS", "Batches", "batches_of", "packed_product", "product_parameter"]

OPERANDS: Final = ("a", "b", "bias", "out")
"""The tensors, in the order of their memories and of the geometry's columns."""

_NUMBERS: Final = 19


class Batches(NamedTuple):
    """The batches of a product.

    matrices  : of out
    summed    : products of matrices that each is the sum of
    offsets   : of the operands, in elements
    rows      : the packed geometry: along are the batches that are summed, across those that are kept
    """

    matrices: int
    summed: int
    offsets: tuple[int, ...]
    rows: bytes


def batches_of(descriptor: Matmul) -> Batches:
    """Return the batches of a product; of a bias that is absent the strides are 0."""
    space = descriptor.geometry
    places = [descriptor.operands.index(name) for name in OPERANDS]
    is_summed = [stride == 0 for stride in space.strides[places[-1]]]
    axes = sorted(range(len(space.shape)), key=is_summed.__getitem__)
    shape, kept = [space.shape[axis] for axis in axes], len(axes) - sum(is_summed)
    strides = [[space.strides[place][axis] for axis in axes] for place in places]
    return Batches(
        math.prod(shape[:kept]),
        math.prod(shape[kept:]),
        tuple(space.offsets[place] for place in places),
        packed_rows(shape, strides, kept, wide=descriptor.key.wide),
    )


def packed_product(descriptor: Matmul, steps: int, parts: int, share: int) -> bytes:
    """Return the matrices, and how their depth is shared.

    steps  : blocks of the depth of all products that are summed
    parts  : the parts that they are in
    share  : blocks of a part
    """
    m, n = descriptor.out.shape[-2:]
    turns = [_steps(descriptor, name) for name in OPERANDS]
    (a_row, a_column), (b_row, b_column) = turns[:2]
    flags = (*descriptor.conjugates, descriptor.bias is not None, abs(a_column) <= abs(a_row), abs(b_row) < abs(b_column))
    numbers = (m, n, descriptor.a.shape[-1], *(step for pair in turns for step in pair), steps, parts, share, *flags)
    return _form(wide=descriptor.key.wide).pack(*numbers)


def product_parameter(*, wide: bool) -> Parameter:
    """Return the parameter of the matrices."""
    return structure("product", "ep_product", _form(wide=wide).size)


def _steps(descriptor: Matmul, name: str) -> tuple[int, int]:
    """Return the steps, in elements, from row to row and from column to column of a tensor; 0 where there is but one."""
    spec = getattr(descriptor, name)
    if spec is None:
        return 0, 0
    if name == "bias":
        row, column = broadcast_strides(spec, descriptor.out.shape)[-2:]
        rows, columns = descriptor.out.shape[-2:]
    else:
        (rows, columns), (row, column) = spec.shape[-2:], spec.strides[-2:]
    return row if rows > 1 else 0, column if columns > 1 else 0


@functools.cache
def _form(*, wide: bool) -> struct.Struct:
    return struct.Struct(f"<{_NUMBERS}{'q' if wide else 'i'}")
