"""Family LayerNorm: each row freed of its mean and divided by its standard deviation, then scaled and moved column by column.

definition   : d = x - mean, variance = (d_1^2 + d_2^2 + ...) / n, rstd = 1 / sqrt(variance + epsilon), y = d rstd scale + bias;
               a row has the elements along the dimensions from `axis` to the last, n of them
shapes       : x and y have one shape, of rank 0 to 16; scale and bias have a row's shape; mean and rstd have x's with
               extents of 1 from the axis on, or without these dimensions. Any strides; a tensor of rank 0 is a row of one
dtypes       : float16, bfloat16, float32, float64, the same of x, scale, bias and y; mean and rstd have the compute type:
               float32 for the first three, as ONNX's stash_type 1 says, else float64
accumulation : in the compute type; of 16-bit types y is rounded once. Sums are made in trees, as of chains of 64 terms that are
               joined in pairs. The variance comes from the differences: a mean square less a squared mean is too far off
NaN          : a NaN in a row makes its mean, its rstd and all of its y NaN; one in scale or bias its column of y
infinities   : an infinity makes rstd and all of y NaN, the mean that infinity, NaN if the row has both. Where a sum or a square
               of finite numbers overflows the compute type, the row's results are open
signed zero  : the sign of a zero is open
empty        : a row of nothing has no y, and NaN as its mean and rstd; without rows nothing is launched
determinism  : a result depends on the values and the extent of its own row, on scale and on bias, never on threads, on other
               rows or on their number; equal calls on one device give equal bits
in place     : y may be x; no other two share a byte
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Final, Self

from ep.dtypes import DTYPES
from ep.layout.dims import Geometry, merge
from ep.work.key import KernelKey, kernel_key

from ep import Descriptor, Role, Roles, Stage, TensorSpec
from ep_primitives.descriptors.attribute import TORCH_AND_ONNX, Attribute, Legal
from ep_primitives.descriptors.axis import axis_within
from ep_primitives.descriptors.validation import (
    attribute_value,
    check_dtype,
    check_output,
    check_spec,
    chosen_output,
    dense_output,
    described,
)
from ep_primitives.elementwise.op import FLOATS
from ep_primitives.families.layer_norm.stages import stages
from ep_primitives.reductions.dimensions import part, reduced_shape

__all__ = ["EPSILON", "LayerNorm"]

_USUAL: Final = 1e-5

EPSILON: Final = Attribute("epsilon", (_USUAL, 1e-12, 3.0), _USUAL, TORCH_AND_ONNX, legal=Legal.POSITIVE)
"""The number added to the variance, in the compute type."""


class LayerNorm(Descriptor):
    """y = (x - mean) rstd scale + bias, over each row: the elements along the dimensions of x from `axis` to the last.

    x       : any shape, a floating element type; read
    scale   : the shape of a row, x.shape[axis:], and the dtype of x; read; None is 1
    bias    : as scale; read; None is 0
    y       : the shape and dtype of x; written; may be the same memory as x
    mean    : the compute type of x, its shape with extents of 1 from the axis on, or without them; written, unless it is None
    rstd    : as mean; 1 / sqrt(variance + epsilon); written, unless it is None
    axis    : the first dimension of a row, a negative one counts from the end
    epsilon : a number above 0, which the compute type holds; 1e-5 is PyTorch's and ONNX's

    Attributes are (axis, epsilon), the axis not negative. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "layer_norm"
    roles: ClassVar[Roles] = Roles(
        Role.input("x", shares=("y",)),
        Role.input("scale", is_optional=True),
        Role.input("bias", is_optional=True),
        Role.output("y"),
        Role.output("mean", is_optional=True),
        Role.output("rstd", is_optional=True),
    )

    def __init__(  # noqa: PLR0913 - operands and attributes
        self,
        *,
        x: TensorSpec,
        y: TensorSpec,
        scale: TensorSpec | None = None,
        bias: TensorSpec | None = None,
        mean: TensorSpec | None = None,
        rstd: TensorSpec | None = None,
        axis: int = -1,
        epsilon: float = _USUAL,
    ) -> None:
        op = self.family
        check_output(op, y, "y")
        check_spec(op, "x", x)
        check_dtype(op, "x", x, FLOATS)
        first = axis_within(op, axis, x.shape, "x")
        _check(op, "y", y, x.dtype, x.shape, is_output=True)
        for name, spec in (("scale", scale), ("bias", bias)):
            if spec is not None:
                check_spec(op, name, spec)
                _check(op, name, spec, x.dtype, x.shape[first:])
        gone = tuple(range(first, x.ndim))
        shapes = [reduced_shape(x.shape, gone, keepdims=keeps) for keeps in (True, False)]
        for name, spec in (("mean", mean), ("rstd", rstd)):
            if spec is not None:
                check_output(op, spec, name)
                _check(op, name, spec, DTYPES[x.dtype].compute, *shapes, is_output=True)
        held = attribute_value(op, EPSILON, epsilon, x.dtype)
        self._freeze("-", (x, scale, bias, y, mean, rstd), (first, held))

    @classmethod
    def infer(  # noqa: PLR0913 - as above
        cls,
        x: Any,
        scale: Any = None,
        bias: Any = None,
        *,
        axis: int = -1,
        epsilon: float = _USUAL,
        y: Any = None,
        mean: Any = None,
        rstd: Any = None,
    ) -> Self:
        """Return the descriptor.

        x, scale, bias : TensorSpecs, or arrays that TensorSpec.of reads; None: absent
        axis, epsilon  : as in the constructor
        y              : a TensorSpec or an array; None: a dense one
        mean, rstd     : a TensorSpec or an array; True: a dense one with extents of 1 from the axis on; None: absent
        """
        op = cls.family
        x = described(op, "x", x)
        check_dtype(op, "x", x, FLOATS)
        gone = range(axis_within(op, axis, x.shape, "x"), x.ndim)
        shape = reduced_shape(x.shape, tuple(gone), keepdims=True)
        given = {
            name: described(op, name, each) for name, each in (("scale", scale), ("bias", bias)) if each is not None
        }
        made = {
            name: dense_output(op, DTYPES[x.dtype].compute, shape) if each is True else described(op, name, each)
            for name, each in (("mean", mean), ("rstd", rstd))
            if each is not None
        }
        y = chosen_output(op, y, x.dtype, x.shape, "y")
        return cls(x=x, y=y, axis=axis, epsilon=epsilon, **given, **made)

    @property
    def x(self) -> TensorSpec:
        """The tensor that is normalised."""
        return self.specs[0]  # type: ignore[return-value]  # never a Scalar

    @property
    def axis(self) -> int:
        """The first dimension of a row, counted from the front."""
        return int(self.attributes[0])

    @property
    def epsilon(self) -> float:
        """The number that is added to the variance."""
        return self.attributes[1]

    @property
    def terms(self) -> int:
        """The number of elements of a row."""
        return math.prod(self.x.shape[self.axis :])

    @property
    def across(self) -> Geometry:
        """The merged dimensions that number the rows: strides and offsets of x, y, mean and rstd; zeros of scale and bias."""
        x, _, _, *outputs = self.specs
        axes = range(min(self.axis, self.x.ndim))
        found = [part(spec, axes) if isinstance(spec, TensorSpec) else None for spec in (x, None, None, *outputs)]
        return merge(part(self.out, axes), found)

    @property
    def along(self) -> Geometry:
        """The merged dimensions of a row in their order: strides and offsets of x, scale, bias and y; zeros of mean and rstd."""
        axes = range(self.axis, self.x.ndim)
        found: list[TensorSpec | None] = [part(self.x, axes), *self.specs[1:3], part(self.out, axes), None, None]  # type: ignore[list-item]
        return merge(part(self.out, axes), found, keeps_order=True)

    @property
    def geometry(self) -> Geometry:
        """The dimensions of `across`, then the dimensions of `along`."""
        geometry = self._geometry
        if geometry is None:
            across, along = self.across, self.along
            strides = tuple([over + own for over, own in zip(across.strides, along.strides, strict=True)])
            offsets = tuple([spec.offset if isinstance(spec, TensorSpec) else 0 for spec in self.specs])
            geometry = Geometry(across.shape + along.shape, strides, offsets, self.x.size, self._is_dense)
            object.__setattr__(self, "_geometry", geometry)
        return geometry

    def lower(self) -> tuple[Stage, ...]:
        """Return reductions, differences and products over temporaries of the compute type."""
        return tuple(stages(self))

    @property
    def layout(self) -> str:
        """The layout part of this descriptor's cell, from all tensors; "empty" if x has no elements."""
        if not self.x.size:
            return "empty"
        if any(spec.lo for spec in self._tensors):
            return "offset"
        if not self.x.shape:
            return "rank0"
        return "dense" if self._is_dense else "strided"

    @property
    def flops(self) -> int:
        """Seven operations an element of x: two sums, a square, a difference, two products and the bias."""
        return 7 * self.x.size

    @property
    def _tensors(self) -> list[TensorSpec]:
        return [spec for spec in self.specs if isinstance(spec, TensorSpec)]

    @property
    def _is_dense(self) -> bool:
        return all(spec.is_dense for spec in self._tensors)

    def __repr__(self) -> str:
        parts = [f"{name}={spec!r}" for name, spec in self.present.items()]
        return f"{type(self).__name__}({', '.join(parts)}, axis={self.axis}, epsilon={self.epsilon})"

    def _make_key(self) -> KernelKey:
        geometry = self.geometry
        return kernel_key(
            self,
            is_dense=geometry.is_dense,
            size=geometry.size,
            inner=geometry.shape[-1] if geometry.shape else 1,
            outer=[
                (spec, tuple(stride for stride in strides if stride != 1))
                for spec, strides in zip(self.specs, geometry.strides, strict=True)
                if isinstance(spec, TensorSpec)
            ],
        )


def _check(op: str, name: str, spec: TensorSpec, dtype: str, *shapes: tuple[int, ...], is_output: bool = False) -> None:
    """Raise ValueError unless a tensor has the element type, and one of the shapes."""
    check_dtype(op, name, spec, (dtype,), is_output=is_output)
    if spec.shape not in shapes:
        needed = " or ".join(map(str, dict.fromkeys(shapes)))
        message = (
            f"{op}: {name} has shape {spec.shape}, needs {needed} for this x and axis; repeat a tensor by strides of 0"
        )
        raise ValueError(message)
