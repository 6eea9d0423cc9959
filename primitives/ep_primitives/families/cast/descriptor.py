"""Family Cast: out = x converted to another element type (OneFlow's unary cast).

shapes       : x broadcasts to out; any strides
dtypes       : every element type on either side, all pairs
accumulation : none; a value is rounded once, whatever lies between the two types
conversion   : float to float and int to float round to nearest even, once; a number that is too large becomes infinite, in
               float8_e4m3fn, which has no infinities, NaN (SaturatingCast keeps within the range); float to int truncates
               and saturates, NaN becomes 0; int to int wraps modulo 2^n; anything to bool is != 0, for a complex number
               in either part; complex to real takes the real part, real to complex has the imaginary part 0
NaN          : stays a NaN of any payload among floats, is true as a bool
infinities   : stay among floats, NaN in float8_e4m3fn; saturate as integers; true as a bool
signed zero  : kept among floats
empty        : an output without elements is legal and nothing is launched
determinism  : an element's result depends on its value alone
in place     : out may be x if the element types have one itemsize
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

import ep
from ep import Descriptor, Role, Roles, TensorSpec
from ep_primitives.cases.signature import Signature
from ep_primitives.cases.ties import ties
from ep_primitives.descriptors.validation import (
    agreed,
    check_dtype,
    check_input,
    check_output,
    chosen_output,
    described,
    dtype_name,
)
from ep_primitives.elementwise.cells import ElementwiseFamily
from ep_primitives.elementwise.op import EVERY
from ep_primitives.judging.accuracy import Exact
from ep_primitives.judging.reference import Array, Reference, array_dtype, widened

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from ep_primitives.cases.case import Case

__all__ = ["CAST_DTYPES", "Cast", "CastFamily"]

CAST_DTYPES: Final = EVERY
"""The element types of either side; every pair is a cell."""

_FRACTION: Final = ep.dtype("float64").fraction
_SPARE: Final = 64 - _FRACTION - 1


class Cast(Descriptor):
    """out = x converted to the element type of out; x is broadcast to its shape.

    x   : broadcasts to out.shape, one of CAST_DTYPES; read
    out : one of CAST_DTYPES; written; may be the same memory as x if the itemsizes are equal

    Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "cast"
    targets: ClassVar[tuple[str, ...]] = CAST_DTYPES
    """The element types of out."""
    roles: ClassVar[Roles] = Roles(Role.input("x", shares=("out",)), Role.output("out"))

    def __init__(self, *, x: TensorSpec, out: TensorSpec) -> None:
        op = self.family
        check_output(op, out)
        check_input(op, "x", x, out)
        check_dtype(op, "x", x, CAST_DTYPES)
        check_dtype(op, "out", out, self.targets)
        self._freeze("-", (x, out))

    @classmethod
    def infer(cls, x: Any, dtype: Any = None, *, out: Any = None) -> Self:
        """Return the descriptor.

        x     : a TensorSpec or an array
        dtype : the element type of out; may be left out beside `out`
        out   : a TensorSpec or an array; None: dense, of the shape of x
        """
        x = described(cls.family, "x", x)
        name = dtype_name(cls.family, dtype) if dtype is not None or out is None else None
        out = chosen_output(cls.family, out, name or "", x.shape)
        agreed(cls.family, "dtype", name, out.dtype)
        return cls(x=x, out=out)


class CastFamily(ElementwiseFamily):
    """The cells of Cast: each pair of element types in each layout; of a kin of it, which says less of out, the same."""

    name: ClassVar[str] = "cast"
    descriptor: ClassVar[type[Cast]] = Cast
    tensors: ClassVar[int] = 1
    exact: ClassVar[Exact] = Exact("one conversion, which is rounded, truncated or wrapped in one way")
    layouts: ClassVar[tuple[str, ...]] = ("dense", "strided", "broadcast", "inplace", "offset", "empty", "rank0")

    def signatures(self) -> Iterator[Signature]:
        """Yield every pair of element types."""
        for source in CAST_DTYPES:
            for target in self.descriptor.targets:
                yield Signature("-", (source,), target)

    def describe(self, _op: str, specs: Mapping[str, Any], _attributes: tuple[float, ...], /) -> Descriptor:
        """Return the descriptor of a cast between these operands."""
        return self.descriptor(**specs)

    def kernel(self, signature: Signature) -> Hashable:
        """Return whether elements become narrower, wider or neither: pairs of types are many, and profile standard tries those of sizes."""
        given, made = ep.dtype(signature.inputs[0]).itemsize, ep.dtype(signature.out).itemsize
        return (made > given) - (made < given)

    def body(self, signature: Signature) -> Hashable:
        """Return the sizes of the elements that are read and written."""
        return ep.dtype(signature.inputs[0]).itemsize, ep.dtype(signature.out).itemsize

    def value_cases(self, signature: Signature) -> Iterator[Case]:
        """Yield designed values, all values of a narrow source, and the ties of a narrower target."""
        yield from super().value_cases(signature)
        values = ties(signature.inputs[0], signature.out)
        if values.size:
            yield self._listed("ties", signature, values)

    def truth(self, signature: Signature, values: Array) -> Array | None:
        """Return which inputs become true; None unless bools are the result."""
        return widened(signature.inputs[0], values) != 0 if signature.out == "bool" else None

    def reference(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> Reference:
        """Return the exact conversion of the inputs as stored."""
        x = descriptor.specs[0]
        value = _converted(widened(x.dtype, inputs["x"]), descriptor.out.dtype)
        return Reference(np.broadcast_to(value, descriptor.out.shape))


def _converted(x: Array, dtype: str) -> Array:
    row = ep.dtype(dtype)
    if row.kind == "b":
        return np.asarray(x != 0)
    if x.dtype.kind == "c" and row.kind != "c":
        x = x.real
    if row.kind in "fc":
        wide = _to_odd(x) if x.dtype.kind in "iu" and row.fraction < _FRACTION else x
        return wide.astype(np.complex128 if row.kind == "c" else np.float64)
    if x.dtype.kind != "f":
        return x.astype(array_dtype(dtype))
    # NumPy's own conversion is undefined outside the range: for one value it differs with the array's length.
    low, high = row.range
    inside = (x > low - 1) & (x < high + 1)
    exact = np.where(inside, x, 0.0).astype(array_dtype(dtype))  # truncates, as C does
    exact[x >= high + 1] = high
    exact[x <= low - 1] = low
    return exact


def _to_odd(x: Array) -> Array:
    """Return integers as float64 such that rounding them once more gives what one rounding would give.

    If bits beyond 53 are lost, the last bit kept is set (rounding to odd).
    """
    bits = x.astype(np.uint64)
    size = np.where(x < 0, ~bits + np.uint64(1), bits)  # of the least value too, which has no negative
    low = np.uint64(2**_SPARE - 1)
    kept = (size & ~low) | ((size & low != 0).astype(np.uint64) << np.uint64(_SPARE))
    exact = np.where(size >> np.uint64(_FRACTION + 1), kept, size).astype(np.float64)
    return np.where(x < 0, -exact, exact)
