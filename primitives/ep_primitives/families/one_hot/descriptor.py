"""Family OneHot: a row of classes for each index, `on` at the class that the index names and `off` elsewhere.

shapes       : out.shape is indices.shape with the number of classes put in at `axis`, which counts the dimensions of out
dtypes       : indices int32 or int64; out one of any; on and off are numbers of the dtype of out
accumulation : none: both numbers are held in the compute type and rounded once to the element type
out of range : class c is index first + c; an index below first or at least first + classes gives a row of off. That is
               meant, and no error: each of several devices that share the classes has a range of them
NaN          : on and off may be NaN, of any payload
infinities   : kept
signed zero  : kept
empty        : no classes or no indices are legal, and nothing is launched
determinism  : always the same bits
in place     : out shares no byte with indices
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from ep.dtypes import DTYPES
from ep.ground.glimpse import glimpse
from ep.integers import count, integer
from ep.layout.cells import dtypes_name
from ep.layout.dims import merge
from ep.layout.spec import MAX_RANK
from ep.work.key import KernelKey, kernel_key

from ep import Descriptor, Role, Roles, Scalar, TensorSpec
from ep_primitives.descriptors.axis import axis_within
from ep_primitives.descriptors.validation import (
    agreed,
    check_dtype,
    check_output,
    check_spec,
    dense_output,
    described,
    dtype_name,
)
from ep_primitives.elementwise.op import EVERY
from ep_primitives.families.gather.descriptor import INDEX_DTYPES

if TYPE_CHECKING:
    from ep.layout.dims import Geometry

__all__ = ["ONE_HOT_DTYPES", "OneHot"]

ONE_HOT_DTYPES: Final = EVERY
"""The element types of the output."""

_INDEX_END: Final = 2**63


class OneHot(Descriptor):
    """out[i.., c, k..] = on if indices[i.., k..] is first + c, else off.

    indices : one of INDEX_DTYPES; any strides; read
    on, off : Scalars of the dtype of out: numbers at launch, 1 and 0 if left out
    out     : indices.shape with the classes at `axis`; one of ONE_HOT_DTYPES; written
    axis    : the dimension of out that counts the classes; negative ones count from its end
    first   : the index of class 0, an int64; so is the index of the last class

    Attributes are axis, not negative, and first. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "one_hot"
    roles: ClassVar[Roles] = Roles(
        Role.input("indices"), Role.number("on", default=1), Role.number("off", default=0), Role.output("out")
    )

    def __init__(  # noqa: PLR0913 - all by keyword: the operands, and two numbers that define the classes
        self,
        *,
        indices: TensorSpec,
        out: TensorSpec,
        on: Scalar | None = None,
        off: Scalar | None = None,
        axis: int = -1,
        first: int = 0,
    ) -> None:
        check_output("one_hot", out)
        check_spec("one_hot", "indices", indices)
        check_dtype("one_hot", "indices", indices, INDEX_DTYPES)
        check_dtype("one_hot", "out", out, ONE_HOT_DTYPES)
        number = Scalar(out.dtype)
        for name, scalar in (("on", on), ("off", off)):
            if scalar is not None:
                _check_number(name, scalar, out.dtype)
        if not out.shape:
            message = f"one_hot: out has rank 0, needs a dimension of classes; indices {indices.shape} give one of rank {indices.ndim + 1}"
            raise ValueError(message)
        axis = axis_within("one_hot", axis, out.shape, "out")
        if (*out.shape[:axis], *out.shape[axis + 1 :]) != indices.shape:
            message = (
                f"one_hot: out has shape {out.shape}, needs indices.shape {indices.shape} with the number of classes "
                f"put in at axis {axis}; describe out so"
            )
            raise ValueError(message)
        self._freeze("-", (indices, number, number, out), (axis, _first_class(first, out.shape[axis])))

    @classmethod
    def infer(  # noqa: PLR0913 - as the constructor
        cls,
        indices: Any,
        dtype: Any = None,
        classes: int | None = None,
        *,
        axis: int = -1,
        first: int = 0,
        out: Any = None,
    ) -> Self:
        """Return the descriptor.

        indices        : a TensorSpec or an array
        dtype, classes : of out; may be left out beside `out`
        out            : a TensorSpec or an array; None: dense
        """
        indices = described("one_hot", "indices", indices)
        if out is not None:
            return cls(
                indices=indices,
                out=_agreed(described("one_hot", "out", out), dtype, classes, axis),
                axis=axis,
                first=first,
            )
        classes = count("one_hot: classes", classes)
        if indices.ndim == MAX_RANK:
            message = f"one_hot: indices has rank {MAX_RANK}, and out would have one more, which is not supported; merge dimensions"
            raise ValueError(message)
        place = axis_within("one_hot", axis, (*indices.shape, classes), "an out of extents")
        shape = (*indices.shape[:place], classes, *indices.shape[place:])
        return cls(
            indices=indices, out=dense_output("one_hot", dtype_name("one_hot", dtype), shape), axis=place, first=first
        )

    @property
    def indices(self) -> TensorSpec:
        """Which class each row names."""
        return self.specs[0]  # type: ignore[return-value]  # never a Scalar

    @property
    def axis(self) -> int:
        """The dimension of out that counts the classes, not negative."""
        return int(self.attributes[0])

    @property
    def first(self) -> int:
        """The index of class 0."""
        return int(self.attributes[1])

    @property
    def classes(self) -> int:
        """The number of classes."""
        return self.out.shape[self.axis]

    @property
    def step(self) -> int:
        """The stride of out from class to class, in elements."""
        return self.out.strides[self.axis]

    @property
    def compute(self) -> str:
        """The type that on and off are held in."""
        return DTYPES[self.out.dtype].compute

    @property
    def geometry(self) -> Geometry:
        """The merged dimensions of indices, with the strides of indices and of class 0 of out (the numbers' are 0)."""
        geometry = self._geometry
        if geometry is None:
            out, axis = self.out, self.axis
            strides = (*out.strides[:axis], *out.strides[axis + 1 :])
            rows = TensorSpec(out.dtype, self.indices.shape, strides, out.offset)
            geometry = merge(rows, (self.indices, *self.specs[1:3], rows))
            object.__setattr__(self, "_geometry", geometry)
        return geometry

    @property
    def layout(self) -> str:
        """The layout part of this descriptor's cell; "rank0" for a single index."""
        if not self.out.size:
            return "empty"
        if self.indices.lo or self.out.lo:
            return "offset"
        if not self.indices.shape:
            return "rank0"
        return "dense" if self.indices.is_dense and self.out.is_dense else "strided"

    @property
    def cell(self) -> str:
        """The text of this descriptor's cell."""
        return f"one_hot/-/{dtypes_name([self.indices.dtype], self.out.dtype)}/{self.layout}"

    @property
    def flops(self) -> int:
        """Nothing is computed."""
        return 0

    def _make_key(self) -> KernelKey:
        geometry = self.geometry
        rows, indices = geometry.strides[-1], geometry.strides[0]
        return kernel_key(
            self,
            is_dense=self.indices.is_dense and self.out.is_dense,
            size=self.out.size,
            inner=self.classes if self.step == 1 else geometry.shape[-1] if geometry.shape else 1,
            outer=[(self.indices, indices[:-1]), (self.out, rows if self.step == 1 else (*rows[:-1], self.step))],
        )


def _agreed(out: TensorSpec, dtype: Any, classes: Any, axis: Any) -> TensorSpec:
    """Return an output that `infer` got. Raises ValueError if the arguments beside it say something else."""
    agreed("one_hot", "dtype", None if dtype is None else dtype_name("one_hot", dtype), out.dtype)
    if classes is not None and out.shape:
        place = axis_within("one_hot", axis, out.shape, "out")
        agreed("one_hot", "classes", count("one_hot: classes", classes), out.shape[place])
    return out


def _check_number(name: str, scalar: Any, dtype: str) -> None:
    if type(scalar) is not Scalar:
        message = f"one_hot: {name} is {glimpse(scalar)}, not a Scalar; leave it out here, and give the number at launch, {name}=..."
        raise TypeError(message)
    check_dtype("one_hot", name, scalar, (dtype,))


def _first_class(first: Any, classes: int) -> int:
    """Return the index of class 0. Raises TypeError or ValueError for one that int64 does not hold, or not the last one."""
    number = integer("one_hot: first", first)
    if not -_INDEX_END <= number <= _INDEX_END - max(classes, 1):
        message = f"one_hot: first is {glimpse(number)}, needs {-_INDEX_END} to {_INDEX_END - max(classes, 1)}; int64 holds each of the {classes} classes then"
        raise ValueError(message)
    return number
