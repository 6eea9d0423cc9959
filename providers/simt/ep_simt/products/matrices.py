"""The matrices of a product as product.h reads them: their extents and steps, and how their depth is shared."""

from __future__ import annotations

import functools
import struct
from typing import Final, NamedTuple

from ep_simt.program import Parameter
from ep_simt.program import struct as structure

__all__ = ["Matrices", "Steps", "product_parameter"]

_NUMBERS: Final = 19

Steps = tuple[int, int]
"""Elements from row to row and from column to column; 0 where there is but one."""


class Matrices(NamedTuple):
    """The matrices of a product.

    order      : the names of the operands that stand for a, b, bias and out
    a, b, ...  : their steps
    conjugates : whether a and b are conjugated
    """

    order: tuple[str, ...]
    m: int
    n: int
    k: int
    a: Steps
    b: Steps
    bias: Steps
    out: Steps
    conjugates: tuple[bool, bool] = (False, False)

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


def product_parameter(*, wide: bool) -> Parameter:
    """Return the parameter of the matrices."""
    return structure("product", "ep_product", _form(wide=wide).size)


@functools.cache
def _form(*, wide: bool) -> struct.Struct:
    return struct.Struct(f"<{_NUMBERS}{'q' if wide else 'i'}")
