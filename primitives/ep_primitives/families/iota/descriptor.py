"""Family Iota: out = start + i step, where i counts along an axis from 0 and start and step are numbers that the launch gives.

shapes       : out of any shape and strides; elements that differ only along other dimensions than the axis are equal; bytes
               between its elements stay. A tensor of rank 0 is a row of one
dtypes       : every integer and real floating type; start and step have out's, for 16-bit floats float32
accumulation : no element is made of the one before it
rounding     : i, the product and the sum may be rounded to the compute type each, or fused, or computed in a wider type; then
               once to out. Where the type holds i step and the sum exactly, the result is exact
integers     : exact, modulo 2^n
NaN          : a NaN start or step gives NaN
infinities   : as the product and the sum give them: an infinite step gives NaN at i = 0, where 0 is multiplied by it; where
               i step itself overflows, the result may be infinite
signed zero  : the sign of a zero is free
empty        : an output without elements is legal and nothing is launched
determinism  : an element's result depends on i and the two numbers alone, whatever its place and the number of threads
in place     : there is no input to share memory with
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, Self

from ep.ground.glimpse import glimpse
from ep.layout.dims import Geometry, merge

from ep import Descriptor, Role, Roles, Scalar, TensorSpec
from ep_primitives.descriptors.axis import axis_within
from ep_primitives.descriptors.validation import check_dtype, check_output, described
from ep_primitives.elementwise.op import REALS

__all__ = ["IOTA_DTYPES", "Iota"]

IOTA_DTYPES: Final = REALS
"""The element types that count."""


class Iota(Descriptor):
    """out = start + i step, i being an element's place along an axis.

    start, step : Scalars of the dtype of out; numbers at launch
    out         : one of IOTA_DTYPES; written
    axis        : which dimension i counts along; a negative one counts from the end

    Its attribute is the axis, not negative. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "iota"
    roles: ClassVar[Roles] = Roles(Role.number("start"), Role.number("step"), Role.output("out"))

    def __init__(self, *, start: Scalar, step: Scalar, out: TensorSpec, axis: int = -1) -> None:
        check_output("iota", out)
        check_dtype("iota", "out", out, IOTA_DTYPES)
        for name, number in (("start", start), ("step", step)):
            if type(number) is not Scalar:
                message = f"iota: {name} is {glimpse(number)}, not a Scalar; give Scalar({out.dtype!r}), and the number at launch"
                raise TypeError(message)
            check_dtype("iota", name, number, (out.dtype,))
        self._freeze("-", (start, step, out), (axis_within("iota", axis, out.shape, "out"),))

    @classmethod
    def infer(cls, out: Any, *, axis: int = -1) -> Self:
        """Return the descriptor that fills `out`, a TensorSpec or an array."""
        out = described("iota", "out", out)
        check_dtype("iota", "out", out, IOTA_DTYPES)
        return cls(start=Scalar(out.dtype), step=Scalar(out.dtype), out=out, axis=axis)

    @property
    def axis(self) -> int:
        """The dimension that i counts along, counted from the front."""
        return int(self.attributes[0])

    @property
    def extent(self) -> int:
        """How far i counts: the elements along the axis."""
        return self.out.shape[self.axis] if self.out.shape else 1

    @property
    def geometry(self) -> Geometry:
        """The merged dimensions across the axis, and as the last one the axis, of any extent; zeros for the numbers."""
        geometry = self._geometry
        if geometry is None:
            geometry = _geometry(self.out, self.axis, self.extent)
            object.__setattr__(self, "_geometry", geometry)
        return geometry

    @property
    def layout(self) -> str:
        """The layout part of this descriptor's cell: out's layout."""
        out = self.out
        if not out.size:
            return "empty"
        if out.lo:
            return "offset"
        if not out.shape:
            return "rank0"
        return "dense" if out.is_dense else "strided"

    @property
    def flops(self) -> int:
        """A product and a sum an element."""
        return 2 * self.out.size

    def __repr__(self) -> str:
        return f"Iota(start={self.specs[0]!r}, step={self.specs[1]!r}, out={self.out!r}, axis={self.axis})"


def _geometry(out: TensorSpec, axis: int, extent: int) -> Geometry:
    offsets = (0, 0, out.offset)
    if not out.size:
        return Geometry((0,), ((0,), (0,), (1,)), offsets, 0, is_dense=True)
    others = TensorSpec(out.dtype, _without(out.shape, axis), _without(out.strides, axis), out.offset)
    across = merge(others, (others,))
    shape = (*across.shape, extent)
    strides = (*across.strides[0], out.strides[axis] if extent > 1 else 1)
    zeros = (0,) * len(shape)
    return Geometry(shape, (zeros, zeros, strides), offsets, out.size, is_dense=len(shape) == 1 and strides == (1,))


def _without(numbers: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return numbers[:axis] + numbers[axis + 1 :]
