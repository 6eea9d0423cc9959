"""Family TopK: the k largest or smallest elements of each row along an axis, and where they stand.

shapes       : x has any shape, of rank 0 to 16; values and indices have it with an extent of k at the axis, 0 <= k <= x's extent.
               Any strides; a tensor of rank 0 is a row of one
dtypes       : x and values are bool or real, of one type; indices int64
accumulation : elements are compared as they are stored and moved bit for bit; a bool is true if its byte is not 0
order        : with `sorted` the best comes first; without it the chosen stand in the order in which they stand in the row
NaN          : counts as the largest number: it comes first among the largest and last among the smallest; keeps its payload
infinities   : are the largest and the smallest number but NaN
ties         : of equal elements, and of NaNs, those that come first in the row are chosen, and come first
signed zero  : -0 equals +0, and each keeps its sign
empty        : with k = 0, or without rows, nothing is launched
determinism  : always the same bits
in place     : no two of x, values and indices share a byte
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from ep.integers import integer
from ep.layout.dims import Geometry, merge
from ep.work.key import KernelKey, kernel_key

from ep import Descriptor, Role, Roles, TensorSpec
from ep_primitives.descriptors.axis import axis_within
from ep_primitives.descriptors.validation import (
    check_dtype,
    check_output,
    check_spec,
    chosen_output,
    chosen_row,
    described,
    flag,
)
from ep_primitives.elementwise.op import REALS
from ep_primitives.reductions.dimensions import part

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["TOP_K_DTYPES", "TOP_K_OPS", "TopK", "TopKOp"]


@dataclass(frozen=True, slots=True)
class TopKOp:
    """One op, over the elements x_0, x_1, ... of a row; all results are exact."""

    name: str
    definition: str
    source: str
    note: str = ""
    since: str = "1.1"


_SOURCE: Final = (
    "ONNX TopK-11 for equal elements, of which the lower index comes first; PyTorch's and NumPy's sort for NaN"
)
_UNSORTED: Final = "ONNX and PyTorch leave the order without `sorted` open"

TOP_K_OPS: Final[Mapping[str, TopKOp]] = {
    row.name: row
    for row in (
        TopKOp("largest", "the first k of the row sorted by falling x_i, then by rising i", _SOURCE, _UNSORTED),
        TopKOp("smallest", "the first k of the row sorted by rising x_i, then by rising i", _SOURCE, _UNSORTED),
    )
}
"""The ops by name."""

TOP_K_DTYPES: Final = ("bool", *REALS)
"""The element types of x."""


class TopK(Descriptor):
    """values, indices = the k best elements of each row of x along an axis, and their places in it.

    op      : "largest" or "smallest"
    x       : one of TOP_K_DTYPES; read
    values  : the dtype of x, its shape with k at the axis; written
    indices : int64, the shape of values; from 0 on along the axis; written
    axis    : which dimension the rows lie along; a negative one counts from the end
    sorted  : True: the best comes first; False: in the order of their places

    Attributes are (axis, sorted), not negative, 0 or 1. Raises TypeError or ValueError for anything else, and ValueError
    for more elements than a row has.
    """

    __slots__ = ()

    family: ClassVar[str] = "top_k"
    roles: ClassVar[Roles] = Roles(Role.input("x"), Role.output("values"), Role.output("indices"))

    def __init__(  # noqa: PLR0913 - operands and attributes
        self,
        op: str,
        *,
        x: TensorSpec,
        values: TensorSpec,
        indices: TensorSpec,
        axis: int = -1,
        sorted: bool = True,  # noqa: A002 - ONNX's and PyTorch's word
    ) -> None:
        name = _name(op)
        check_spec(name, "x", x)
        check_dtype(name, "x", x, TOP_K_DTYPES)
        place = axis_within(name, axis, x.shape, "x")
        for operand, spec, dtype in (("values", values, x.dtype), ("indices", indices, "int64")):
            check_output(name, spec, operand)
            check_dtype(name, operand, spec, (dtype,), is_output=True)
        _check_shape(name, x, values, place)
        if indices.shape != values.shape:
            message = (
                f"{name}: indices has shape {indices.shape}, needs {values.shape}, the shape of values; describe it so"
            )
            raise ValueError(message)
        self._freeze(op, (x, values, indices), (place, int(flag(name, "sorted", sorted))))

    @classmethod
    def infer(  # noqa: PLR0913 - as in PyTorch
        cls,
        op: str,
        x: Any,
        k: int,
        axis: int = -1,
        *,
        sorted: bool = True,  # noqa: A002 - as above
        values: Any = None,
        indices: Any = None,
    ) -> Self:
        """Return the descriptor.

        x               : a TensorSpec, or an array that TensorSpec.of reads
        k               : how many elements of each row
        axis, sorted    : as in the constructor
        values, indices : TensorSpecs or arrays; None: dense ones
        """
        name = _name(op)
        x = described(name, "x", x)
        place, count = axis_within(name, axis, x.shape, "x"), integer(f"{name}: k", k)
        extent = x.shape[place] if x.shape else 1
        if not 0 <= count <= extent or (count == 0 and not x.shape):
            least = 0 if x.shape else 1
            message = f"{name}: k is {count}, needs {least} to {extent}, the extent of x {x.shape} along axis {place}; ask for as many as there are"
            raise ValueError(message)
        shape = (*x.shape[:place], count, *x.shape[place + 1 :]) if x.shape else ()
        outputs = {
            "values": chosen_output(name, values, x.dtype, shape, "values"),
            "indices": chosen_output(name, indices, "int64", shape, "indices"),
        }
        return cls(op, x=x, **outputs, axis=place, sorted=sorted)

    @property
    def title(self) -> str:
        """The operation's name in messages."""
        return _name(self.op)

    @property
    def x(self) -> TensorSpec:
        """The tensor whose elements are chosen."""
        return self.specs[0]  # type: ignore[return-value]  # never a Scalar

    @property
    def axis(self) -> int:
        """The axis that rows lie along, counted from the front."""
        return int(self.attributes[0])

    @property
    def sorted(self) -> bool:
        """True if the best comes first."""
        return bool(self.attributes[1])

    @property
    def extent(self) -> int:
        """The number of elements of a row."""
        return self.x.shape[self.axis] if self.x.shape else 1

    @property
    def k(self) -> int:
        """How many of them are chosen."""
        return self.out.shape[self.axis] if self.out.shape else 1

    @property
    def steps(self) -> tuple[int, ...]:
        """The strides of x, values and indices along the axis, in elements."""
        return tuple([spec.strides[self.axis] if spec.shape else 1 for spec in self._tensors])

    @property
    def across(self) -> Geometry:
        """The merged dimensions that number the rows, with strides and offsets of x, values and indices."""
        axes = [axis for axis in range(self.x.ndim) if axis != self.axis]
        x, values, indices = [part(spec, axes) for spec in self._tensors]
        return merge(values, (x, values, indices))

    @property
    def geometry(self) -> Geometry:
        """The dimensions of `across`, then the row of x, along which the strides of values and indices are 0."""
        geometry = self._geometry
        if geometry is None:
            across, (step, *_) = self.across, self.steps
            strides = tuple([(*own, last) for own, last in zip(across.strides, (step, 0, 0), strict=True)])
            geometry = Geometry((*across.shape, self.extent), strides, across.offsets, self.x.size, is_dense=False)
            object.__setattr__(self, "_geometry", geometry)
        return geometry

    @property
    def layout(self) -> str:
        """The layout part of this descriptor's cell, of all three tensors."""
        if not self.out.size:
            return "empty"
        if any(spec.lo for spec in self._tensors):
            return "offset"
        if not self.x.shape:
            return "rank0"
        return "dense" if all(spec.is_dense for spec in self._tensors) else "strided"

    @property
    def flops(self) -> int:
        """One comparison an element of x."""
        return self.x.size

    @property
    def _tensors(self) -> tuple[TensorSpec, ...]:
        return self.specs  # type: ignore[return-value]  # never a Scalar

    def __repr__(self) -> str:
        parts = [f"{name}={spec!r}" for name, spec in self.present.items()]
        return f"{type(self).__name__}({self.op!r}, {', '.join(parts)}, axis={self.axis}, sorted={self.sorted})"

    def _make_key(self) -> KernelKey:
        across = self.across
        outer = [
            (spec, tuple(stride for stride in (*own, step) if stride != 1))
            for spec, own, step in zip(self._tensors, across.strides, self.steps, strict=True)
        ]
        is_dense = all(spec.is_dense for spec in self._tensors)
        return kernel_key(self, is_dense=is_dense, size=self.x.size, inner=self.extent, outer=outer)


def _name(op: Any) -> str:
    """Return an op's name in messages. Raises ValueError for one that the family does not have."""
    chosen_row("top_k", op, TOP_K_OPS)
    return f"top_k/{op}"


def _check_shape(name: str, x: TensorSpec, values: TensorSpec, axis: int) -> None:
    """Raise ValueError unless values has the shape of x but for the axis, and no larger extent there."""
    needed = list(x.shape)
    if x.shape and values.ndim == x.ndim:
        needed[axis] = min(values.shape[axis], x.shape[axis])
    if values.shape != tuple(needed):
        message = f"{name}: values has shape {values.shape}, needs x's shape {x.shape} with k at axis {axis}, k at most the extent there; describe it so"
        raise ValueError(message)
