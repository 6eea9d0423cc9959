"""Base of Quantize and Dequantize: scale and zero point for a tensor, for each place along dimensions, or for blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from ep.ground.glimpse import glimpse
from ep.integers import integer
from ep.layout.cells import dtypes_name
from ep.layout.spec import MAX_RANK

from ep import Role, Roles, Stage, TensorSpec
from ep_primitives.descriptors.axis import axis_within
from ep_primitives.descriptors.composed import Composed
from ep_primitives.descriptors.validation import check_dtype, check_input, check_spec
from ep_primitives.families.cast.descriptor import Cast

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

__all__ = ["QUANTIZED", "Piece", "Quantization"]

QUANTIZED: Final = ("int8", "uint8", "int16", "uint16")
"""The element types of quantized numbers."""


class Piece(NamedTuple):
    """A part of the tensors that is walked at once, all of one shape or broadcast to it.

    x, out            : windows of the tensors; blocks split the axis into two dimensions, the blocks and the elements of one
    scale, zero_point : windows of scale and zero point that broadcast to them
    """

    x: TensorSpec
    scale: TensorSpec
    zero_point: TensorSpec | None
    out: TensorSpec


class Quantization(Composed):
    """A descriptor of x, its scale and zero point, and out.

    The tensor of integers is x of one family and out of the other; the zero point has its element type.
    """

    __slots__ = ()

    roles: ClassVar[Roles] = Roles(
        Role.input("x"), Role.input("scale"), Role.input("zero_point", is_optional=True), Role.output("out")
    )
    words: ClassVar[tuple[str, ...]] = ("axis", "block")

    def _freeze_scaled(
        self,
        specs: tuple[TensorSpec, TensorSpec, TensorSpec | None, TensorSpec],
        axis: int | None,
        block: int | None,
        integers: str,
    ) -> None:
        """Fill this value after the checks that both have; integers : the element type of the zero point."""
        x, scale, zero_point, out = specs
        op = self.family
        if out.shape != x.shape:
            message = f"{op}: out has shape {out.shape}, needs x's shape {x.shape}; describe out so"
            raise ValueError(message)
        place, size = self._blocks(x, scale, axis, block)
        if zero_point is not None:
            check_spec(op, "zero_point", zero_point)
            check_dtype(op, "zero_point", zero_point, (integers,))
            if zero_point.shape != scale.shape:
                message = f"{op}: zero_point has shape {zero_point.shape}, needs scale's shape {scale.shape}; repeat one by strides of 0"
                raise ValueError(message)
        self._freeze("-", specs, (place, size))

    def _blocks(self, x: TensorSpec, scale: TensorSpec, axis: int | None, block: int | None) -> tuple[int, int]:
        """Return the axis and the size of blocks, zeros without. Raises TypeError or ValueError unless they fit x."""
        op = self.family
        if block is None:
            if axis is not None:
                message = f"{op}: axis is {glimpse(axis)}, needs a block beside it; without one scale broadcasts to x, with extents of 1"
                raise ValueError(message)
            check_input(op, "scale", scale, x)
            return 0, 0
        size = integer(f"{op}: block", block)
        if size < 1:
            message = f"{op}: block is {size}, needs at least 1; None is no blocks"
            raise ValueError(message)
        place = axis_within(op, 0 if axis is None else axis, x.shape, "x")
        if not 0 < x.ndim < MAX_RANK:
            message = f"{op}: x has rank {x.ndim}, needs from 1 to {MAX_RANK - 1} with a block; merge two dimensions, or leave block out"
            raise ValueError(message)
        needed = (*x.shape[:place], -(-x.shape[place] // size), *x.shape[place + 1 :])
        aligned = scale.ndim == x.ndim and all(
            have == want or (have == 1 and dimension != place)
            for dimension, (have, want) in enumerate(zip(scale.shape, needed, strict=True))
        )
        if not aligned:
            message = f"{op}: scale has shape {scale.shape}, needs {needed} for blocks of {size} along axis {place} of x {x.shape}, or 1 elsewhere; repeat one by strides of 0"
            raise ValueError(message)
        return place, size

    @property
    def x(self) -> TensorSpec:
        """The tensor to convert."""
        return self.specs[0]  # type: ignore[return-value]  # never a Scalar

    @property
    def scale(self) -> TensorSpec:
        """The value of one step of the integers."""
        return self.specs[1]  # type: ignore[return-value]  # as above

    @property
    def zero_point(self) -> TensorSpec | None:
        """Which integer is 0."""
        return self.specs[2]  # type: ignore[return-value]  # as above

    @property
    def axis(self) -> int | None:
        """The dimension of blocks, counted from the front."""
        return int(self.attributes[0]) if self.attributes[1] else None

    @property
    def block(self) -> int | None:
        """How many neighbours along the axis one scale stands for."""
        return int(self.attributes[1]) or None

    @property
    def cell(self) -> str:
        """The text of this descriptor's cell, with the element types of x and out."""
        return f"{self.family}/-/{dtypes_name((self.x.dtype,), self.out.dtype)}/{self.layout}"

    def widened(self) -> Generator[Stage, None, tuple[TensorSpec, TensorSpec | None, str]]:
        """Yield the casts of scale and zero point to the compute type; return both there, and the name of scale."""
        wide, scale, zero, named = self.compute, self.scale, self.zero_point, "scale"
        if scale.dtype != wide:
            scale, named = TensorSpec(wide, scale.shape), "wide scale"
            yield Stage(Cast(x=self.scale, out=scale), x="scale", out=named)
        if zero is not None:
            narrow, zero = zero, TensorSpec(wide, zero.shape)
            yield Stage(Cast(x=narrow, out=zero), x="zero_point", out="wide zero point")
        return scale, zero, named

    def pieces(self, scale: TensorSpec, zero_point: TensorSpec | None) -> Iterator[Piece]:
        """Yield pieces that are computed at once, with a scale and a zero point of those shapes: all, or whole blocks and a rest."""
        axis, block = self.axis, self.block
        if axis is None or block is None:
            yield Piece(self.x, scale, zero_point, self.out)
            return
        extent = self.x.shape[axis]
        whole = extent // block
        for first, count, size in ((0, whole, block), (whole, 1, extent - whole * block)):
            if count and size:
                x, out = (_blocked(spec, axis, first * block, count, size) for spec in (self.x, self.out))
                step, zero = (spec and _blocked(spec, axis, first, count, 1) for spec in (scale, zero_point))
                assert step is not None
                yield Piece(x, step, zero, out)

    @property
    def flops(self) -> int:
        """Three operations an element."""
        return 3 * self.out.size


def _blocked(spec: TensorSpec, axis: int, first: int, count: int, size: int) -> TensorSpec:
    """Return count times size neighbours along an axis from one on, in two dimensions."""
    step = spec.strides[axis]
    return TensorSpec(
        spec.dtype,
        (*spec.shape[:axis], count, size, *spec.shape[axis + 1 :]),
        (*spec.strides[:axis], step * size, step, *spec.strides[axis + 1 :]),
        spec.offset + first * step,
    )
