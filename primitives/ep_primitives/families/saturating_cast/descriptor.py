"""Family SaturatingCast: out = x converted to a float8; numbers beyond its largest become the largest, as by default in ONNX.

shapes       : x broadcasts to out; any strides
dtypes       : every element type for x, the float8 types for out
accumulation : none; a value is rounded once, whatever lies between the two types
conversion   : to nearest even, as Cast; a number that would round to more than the largest becomes the largest number of
               its sign. A complex number gives its real part; a bool becomes 0 or 1
NaN          : stays a NaN of any payload
infinities   : become the largest number of their sign, in float8_e5m2 too, which has infinities
signed zero  : kept among floats
empty        : an output without elements is legal and nothing is launched
determinism  : an element's result depends on its value alone
in place     : out may be x if the element types have one itemsize
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ep_primitives.elementwise.op import FLOAT8
from ep_primitives.families.cast.descriptor import Cast, CastFamily
from ep_primitives.judging.accuracy import Exact
from ep_primitives.judging.reference import Reference, limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep import Cell, Descriptor

__all__ = ["SaturatingCast", "SaturatingCastFamily"]


class SaturatingCast(Cast):
    """out = x converted to a float8, and at most its largest number; x is broadcast to the shape of out.

    x   : broadcasts to out.shape, one of CAST_DTYPES; read
    out : float8_e4m3fn or float8_e5m2; written; may be the same memory as x if the itemsizes are equal

    Raises TypeError or ValueError for anything else. Integers saturate floats in Cast already.
    """

    __slots__ = ()

    family: ClassVar[str] = "saturating_cast"
    targets: ClassVar[tuple[str, ...]] = FLOAT8


class SaturatingCastFamily(CastFamily):
    """The cells of SaturatingCast: each element type to each float8 in each layout."""

    name: ClassVar[str] = "saturating_cast"
    descriptor: ClassVar[type[Cast]] = SaturatingCast
    exact: ClassVar[Exact] = Exact("one conversion, which is rounded or cut off in one way")

    def since(self, cell: Cell) -> str:  # noqa: ARG002 - the interface is ep.Family's
        """Return the suite version that first held the family."""
        return "1.1"

    def reference(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> Reference:
        """Return the inputs as stored, cut off at the largest number: it is a number of the type, so rounding keeps it."""
        exact = super().reference(descriptor, inputs).value
        greatest = float(limits(descriptor.out.dtype).max)
        return Reference(np.clip(exact, -greatest, greatest))
