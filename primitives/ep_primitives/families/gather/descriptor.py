"""Family Gather: out takes the elements of x at indices along one axis, as numpy.take does, with batches on request.

shapes       : out.shape = x.shape[:axis] + indices.shape[batch_dims:] + x.shape[axis + 1:]; the first batch_dims extents
               of x and indices are the same ones, and each batch of x is asked by its own indices; batch_dims <= axis.
               An x of rank 0 is a row of one
dtypes       : indices int32 or int64; x and out one of any
accumulation : none: bits are moved unchanged, so a NaN keeps its payload and a bool its byte
out of range : an index below 0 or at least x.shape[axis] reads nothing and gives 0 (false): negative ones do not count from
               the end. With EP_VALIDATE=1 it is a ValueError that names it, before anything is enqueued, even where out has
               no element that would ask for it
NaN          : moved as any other bits
infinities   : moved
signed zero  : kept
empty        : an output without elements is legal and nothing is launched; of an x with nothing along the axis every index
               is out of range
determinism  : always the same bits
in place     : out shares no byte with x or indices
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np
from ep.ground.glimpse import glimpse
from ep.integers import integer
from ep.layout.dims import merge
from ep.layout.spec import MAX_RANK
from ep.work.key import KernelKey, kernel_key

from ep import Descriptor, Role, Roles, TensorSpec
from ep_primitives.descriptors.axis import axis_within
from ep_primitives.descriptors.validation import check_dtype, check_output, check_spec, chosen_output, described
from ep_primitives.elementwise.op import EVERY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep.layout.dims import Geometry

    from ep_primitives.judging.reference import Array

__all__ = ["GATHER_DTYPES", "INDEX_DTYPES", "Gather"]

GATHER_DTYPES: Final = EVERY
"""The element types that can be gathered."""

INDEX_DTYPES: Final = ("int32", "int64")
"""The element types of indices."""


class Gather(Descriptor):
    """out[b.., i.., j.., k..] = x[b.., i.., indices[b.., j..], k..], and 0 where that index is out of range.

    x          : one of GATHER_DTYPES; any strides; read where an index in range says
    indices    : one of INDEX_DTYPES; any strides; read
    out        : x.shape[:axis] + indices.shape[batch_dims:] + x.shape[axis + 1:], the dtype of x; written
    axis       : the dimension of x that indices count along; negative ones count from its end
    batch_dims : how many leading dimensions x and indices share, from 0 to axis

    Attributes are axis, not negative, and batch_dims. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "gather"
    roles: ClassVar[Roles] = Roles(Role.input("x"), Role.input("indices", is_inspected=True), Role.output("out"))

    def __init__(
        self, *, x: TensorSpec, indices: TensorSpec, out: TensorSpec, axis: int = 0, batch_dims: int = 0
    ) -> None:
        check_output("gather", out)
        axis, batch_dims, shape = _settled(x, indices, axis, batch_dims)
        check_dtype("gather", "out", out, (x.dtype,))
        if out.shape != shape:
            message = (
                f"gather: out has shape {out.shape}, needs {shape}: x {x.shape} with indices {indices.shape} "
                f"in place of axis {axis}; describe out so"
            )
            raise ValueError(message)
        self._freeze("-", (x, indices, out), (axis, batch_dims))

    @classmethod
    def infer(cls, x: Any, indices: Any, axis: int = 0, *, batch_dims: int = 0, out: Any = None) -> Self:
        """Return the descriptor; x, indices and out are TensorSpecs or arrays, without out it is dense."""
        x, indices = described("gather", "x", x), described("gather", "indices", indices)
        axis, batch_dims, shape = _settled(x, indices, axis, batch_dims)
        out = chosen_output("gather", out, x.dtype, shape)
        return cls(x=x, indices=indices, out=out, axis=axis, batch_dims=batch_dims)

    @property
    def x(self) -> TensorSpec:
        """The tensor that elements are taken from."""
        return self.specs[0]  # type: ignore[return-value]  # never a Scalar

    @property
    def indices(self) -> TensorSpec:
        """Which elements are taken."""
        return self.specs[1]  # type: ignore[return-value]  # never a Scalar

    @property
    def axis(self) -> int:
        """The dimension of x that indices count along, not negative."""
        return int(self.attributes[0])

    @property
    def batch_dims(self) -> int:
        """How many leading dimensions x and indices share."""
        return int(self.attributes[1])

    @property
    def extent(self) -> int:
        """The extent of x along the axis: indices from 0 to below it are in range."""
        return self.x.shape[self.axis] if self.x.shape else 1

    @property
    def step(self) -> int:
        """The stride of x along the axis, in elements."""
        return self.x.strides[self.axis] if self.x.shape else 1

    @property
    def geometry(self) -> Geometry:
        """The merged dimensions of out, with the strides of x at index 0 (0 along indices' dimensions), of indices and of out."""
        geometry = self._geometry
        if geometry is None:
            x, indices, axis, shared = self.x, self.indices, self.axis, self.batch_dims
            inner, places = x.ndim - axis - 1 if x.shape else 0, indices.ndim - shared
            repeated = (1,) * places
            rows = TensorSpec(
                x.dtype,
                (*x.shape[:axis], *repeated, *x.shape[x.ndim - inner :]),
                (*x.strides[:axis], *repeated, *x.strides[x.ndim - inner :]),
                x.offset,
            )
            asked = TensorSpec(
                indices.dtype,
                (*indices.shape[:shared], *(1,) * (axis - shared), *indices.shape[shared:], *(1,) * inner),
                (*indices.strides[:shared], *(1,) * (axis - shared), *indices.strides[shared:], *(1,) * inner),
                indices.offset,
            )
            geometry = merge(self.out, (rows, asked, self.out))
            object.__setattr__(self, "_geometry", geometry)
        return geometry

    @property
    def layout(self) -> str:
        """The layout part of this descriptor's cell."""
        if not self.out.size:
            return "empty"
        if self.x.lo or self.indices.lo or self.out.lo:
            return "offset"
        if not self.out.shape:
            return "rank0"
        return "dense" if self.x.is_dense and self.indices.is_dense and self.out.is_dense else "strided"

    @property
    def nbytes_moved(self) -> int:
        """The bytes of out, as many read for them, and the bytes of indices."""
        return 2 * self.out.size * self.out.itemsize + self.indices.size * self.indices.itemsize

    @property
    def flops(self) -> int:
        """Nothing is computed."""
        return 0

    def check_contents(self, contents: Mapping[str, Array]) -> None:
        """Raise ValueError for indices that are out of range, naming the first."""
        indices = contents["indices"]
        wrong = (indices < 0) | (indices >= self.extent)
        if not wrong.any():
            return
        place = tuple(int(i) for i in np.unravel_index(int(wrong.argmax()), indices.shape))
        count, last = int(wrong.sum()), self.extent - 1
        needed = f"needs 0 to {last}" if last >= 0 else "and no index is in range"
        message = (
            f"gather: indices{list(place)} is {int(indices[place])}, {needed} for axis {self.axis} of x {self.x.shape} "
            f"({count} of {indices.size} are out of range); correct it, or launch without EP_VALIDATE=1 to get 0 there"
        )
        raise ValueError(message)

    def _make_key(self) -> KernelKey:
        geometry = self.geometry
        x, indices, out = (strides[:-1] for strides in geometry.strides)
        return kernel_key(
            self,
            is_dense=geometry.is_dense,
            size=geometry.size,
            inner=geometry.shape[-1] if geometry.shape else 1,
            outer=[(self.x, (*x, self.step)), (self.indices, indices), (self.out, out)],
        )


def _settled(x: Any, indices: Any, axis: Any, batch_dims: Any) -> tuple[int, int, tuple[int, ...]]:
    """Return axis, batch_dims and the shape of out, all of them checked."""
    check_spec("gather", "x", x)
    check_spec("gather", "indices", indices)
    check_dtype("gather", "x", x, GATHER_DTYPES)
    check_dtype("gather", "indices", indices, INDEX_DTYPES)
    axis = axis_within("gather", axis, x.shape, "x")
    shared, most = integer("gather: batch_dims", batch_dims), min(axis, indices.ndim)
    if not 0 <= shared <= most:
        message = (
            f"gather: batch_dims is {glimpse(batch_dims)}, needs 0 to {most}; they are dimensions before axis {axis} of x {x.shape} "
            f"that indices {indices.shape} has, too"
        )
        raise ValueError(message)
    if x.shape[:shared] != indices.shape[:shared]:
        message = (
            f"gather: x {x.shape} and indices {indices.shape} differ in their first {shared} extents; "
            f"with batch_dims={shared} these must be equal"
        )
        raise ValueError(message)
    shape = (*x.shape[:axis], *indices.shape[shared:], *x.shape[axis + 1 :])
    if len(shape) > MAX_RANK:
        message = f"gather: x {x.shape} with indices {indices.shape} gives an output of rank {len(shape)}; at most {MAX_RANK} is supported; merge dimensions"
        raise ValueError(message)
    return axis, shared, shape
