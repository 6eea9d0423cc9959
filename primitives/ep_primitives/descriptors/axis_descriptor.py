"""Base of descriptors that work on rows: one axis of operands that all have the output's shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ep.layout.dims import Geometry, merge
from ep.work.key import KernelKey, kernel_key

from ep import Descriptor, TensorSpec
from ep_primitives.descriptors.axis import axis_within
from ep_primitives.descriptors.validation import check_dtype, check_output, check_spec
from ep_primitives.elementwise.op import FLOATS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["AxisDescriptor"]


class AxisDescriptor(Descriptor):
    """Tensors of one shape and one element type, and the axis along which their rows lie.

    The first attribute is the axis, counted from the front. A tensor of rank 0 is a row of one element.
    """

    __slots__ = ()

    operations: ClassVar[int]
    """The number of operations for each element by the definition: comparisons, sums, products, exponentials."""

    def _freeze_rows(
        self,
        axis: Any,
        *,
        op: str = "-",
        dtypes: tuple[str, ...] = FLOATS,
        more: tuple[int, ...] = (),
        **tensors: Any,
    ) -> None:
        """Validate the tensors, the output last, and the axis; and fill this value with them.

        op      : of a family that has ops
        dtypes  : the element types of all tensors
        more    : attributes after the axis
        """
        name, out = self.family if op == "-" else f"{self.family}/{op}", tensors["out"]
        check_output(name, out)
        for operand, spec in tensors.items():
            check_spec(name, operand, spec)
            if spec.shape != out.shape:
                message = (
                    f"{name}: {operand} has shape {spec.shape}, needs {out.shape}, the shape of out; "
                    "repeat a tensor by strides of 0"
                )
                raise ValueError(message)
        first, *others = tensors.items()
        check_dtype(name, *first, dtypes)
        for operand, spec in others:
            check_dtype(name, operand, spec, (first[1].dtype,))
        self._freeze(op, tuple(tensors.values()), (axis_within(name, axis, out.shape, "out"), *more))

    @property
    def axis(self) -> int:
        """The axis that rows lie along, counted from the front."""
        return int(self.attributes[0])

    @property
    def extent(self) -> int:
        """The number of elements of a row."""
        return self.out.shape[self.axis] if self.out.shape else 1

    @property
    def geometry(self) -> Geometry:
        """The merged dimensions across rows, and as the last one the row, of any extent.

        Without elements it is one row of none.
        """
        geometry = self._geometry
        if geometry is None:
            tensors: Sequence[TensorSpec] = self.specs  # type: ignore[assignment]  # never a Scalar
            geometry = _geometry(tensors, self.axis, self.extent)
            object.__setattr__(self, "_geometry", geometry)
        return geometry

    @property
    def layout(self) -> str:
        """The layout part of this descriptor's cell; "dense" with rows along any axis."""
        if not self.out.size:
            return "empty"
        if any(spec.lo for spec in self.specs if isinstance(spec, TensorSpec)):
            return "offset"
        if not self.out.shape:
            return "rank0"
        return "dense" if all(spec.is_dense for spec in self.specs if isinstance(spec, TensorSpec)) else "strided"

    @property
    def flops(self) -> int:
        """The operations of the definition."""
        return self.operations * self.out.size

    def __repr__(self) -> str:
        parts = [f"{name}={spec!r}" for name, spec in zip(self.operands, self.specs, strict=True)]
        return f"{type(self).__name__}({', '.join(parts)}, axis={self.axis})"

    def _make_key(self) -> KernelKey:
        geometry = self.geometry
        return kernel_key(
            self,
            is_dense=geometry.is_dense,
            size=geometry.size,
            inner=geometry.shape[-1],
            outer=[
                (spec, tuple(stride for stride in strides if stride != 1))
                for spec, strides in zip(self.specs, geometry.strides, strict=True)
                if isinstance(spec, TensorSpec)
            ],
        )


def _geometry(tensors: Sequence[TensorSpec], axis: int, extent: int) -> Geometry:
    out = tensors[-1]
    offsets = tuple(spec.offset for spec in tensors)
    if not out.size:
        return Geometry((0,), ((1,),) * len(tensors), offsets, 0, is_dense=True)
    steps = [spec.strides[axis] if extent > 1 else 1 for spec in tensors]
    firsts = [
        TensorSpec(spec.dtype, _without(spec.shape, axis), _without(spec.strides, axis), spec.offset)
        for spec in tensors
    ]
    across = merge(firsts[-1], firsts)
    strides = tuple((*over, step) for over, step in zip(across.strides, steps, strict=True))
    is_dense = all(spec.is_dense for spec in tensors) and all(step == 1 for step in steps)
    return Geometry((*across.shape, extent), strides, offsets, out.size, is_dense)


def _without(numbers: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return numbers[:axis] + numbers[axis + 1 :]
