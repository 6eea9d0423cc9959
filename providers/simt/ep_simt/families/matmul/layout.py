"""The layout of a product as product.h reads it: its matrices, turned where that is better, and its batches, merged."""

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

__all__ = ["Batches", "Matrices", "batches_of", "matrices_of", "product_parameter"]

_NUMBERS: Final = 19

Steps = tuple[int, int]
"""Elements from row to row and from column to column; 0 where there is but one."""


class Matrices(NamedTuple):
    """The matrices of a product.

    order      : the names of the operands that stand for a, b, bias and out
    a, b, ...  : their steps
    conjugates : whether a and b are conjugated
    """

    order: tuple[str, str, str, str]
    m: int
    n: int
    k: int
    a: Steps
    b: Steps
    bias: Steps
    out: Steps
    conjugates: tuple[bool, bool]

    @property
    def turned(self) -> Matrices:
        """The transposed product: out^T = b^T @ a^T."""
        first, second, *rest = self.order
        a, b, bias, out = (steps[::-1] for steps in (self.b, self.a, self.bias, self.out))
        return Matrices((second, first, *rest), self.n, self.m, self.k, a, b, bias, out, self.conjugates[::-1])

    def packed(self, shares: tuple[int, int, int], *, has_bias: bool, wide: bool) -> bytes:
        """Return the structure ep_product.

        shares : blocks of the depth, parts of it, blocks of a part
        """
        steps = (*self.a, *self.b, *self.bias, *self.out)
        a_runs_deep, b_runs_deep = abs(self.a[1]) <= abs(self.a[0]), abs(self.b[0]) < abs(self.b[1])
        flags = (*self.conjugates, has_bias, a_runs_deep, b_runs_deep)
        return _form(wide=wide).pack(self.m, self.n, self.k, *steps, *shares, *flags)


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


def matrices_of(descriptor: Matmul) -> Matrices:
    """Return the matrices such that a product of a vector has one row, and that columns of out are neighbours where they can be."""
    (m, n), k = descriptor.out.shape[-2:], descriptor.a.shape[-1]
    a, b, out = (_steps(spec.shape, spec.strides) for spec in (descriptor.a, descriptor.b, descriptor.out))
    whole, given = descriptor.out.shape, descriptor.bias
    bias = (0, 0) if given is None else _steps(whole, broadcast_strides(given, whole))
    found = Matrices(("a", "b", "bias", "out"), m, n, k, a, b, bias, out, descriptor.conjugates)
    is_turned = n == 1 < m or (m > 1 < n and abs(out[0]) < abs(out[1]))
    return found.turned if is_turned else found


def batches_of(descriptor: Matmul, order: tuple[str, ...]) -> Batches:
    """Return the batches of a product, its operands in an order; of a bias that is absent the strides are 0."""
    space = descriptor.geometry
    places = [descriptor.operands.index(name) for name in order]
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


def product_parameter(*, wide: bool) -> Parameter:
    """Return the parameter of the matrices."""
    return structure("product", "ep_product", _form(wide=wide).size)


def _steps(shape: tuple[int, ...], strides: tuple[int, ...]) -> Steps:
    row, column = (stride if extent > 1 else 0 for extent, stride in zip(shape[-2:], strides[-2:], strict=True))
    return row, column


@functools.cache
def _form(*, wide: bool) -> struct.Struct:
    return struct.Struct(f"<{_NUMBERS}{'q' if wide else 'i'}")
