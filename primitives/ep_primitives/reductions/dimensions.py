"""The dimensions of Reduce and ArgReduce: which of x's are reduced, which are kept, and how a kernel walks both."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from ep.ground.glimpse import glimpse
from ep.integers import integer, taken
from ep.layout.cells import dtypes_name
from ep.layout.dims import Geometry, merge
from ep.layout.spec import MAX_RANK
from ep.work.key import KernelKey, kernel_key

from ep import Descriptor, Role, Roles, TensorSpec
from ep_primitives.descriptors.validation import chosen_output
from ep_primitives.descriptors.window import rows, windowed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

__all__ = ["Reduction", "check_shapes", "part", "reduced_axes", "reduced_output", "reduced_shape", "windows"]


class Reduction(Descriptor):
    """A descriptor of one tensor x. Each element of the output is made of a *row*: the elements along `axes`."""

    __slots__ = ()

    roles: ClassVar[Roles] = Roles(Role.input("x"), Role.output("out"))

    @property
    def x(self) -> TensorSpec:
        """The tensor that is reduced."""
        return self.specs[0]  # type: ignore[return-value]  # never a Scalar

    @property
    @abstractmethod
    def axes(self) -> tuple[int, ...]:
        """The dimensions of x that go: sorted, not negative, each once."""

    @property
    def terms(self) -> int:
        """The number of elements in a row."""
        return math.prod(self.x.shape[axis] for axis in self.axes)

    @property
    def kept(self) -> Geometry:
        """The merged dimensions that stay, with the strides and offsets of x and of out: where each row begins and ends up.

        Outermost first by the strides of out.
        """
        x, out, gone = self.x, self.out, set(self.axes)
        axes = [axis for axis in range(x.ndim) if axis not in gone]
        places = axes if out.ndim == x.ndim else range(out.ndim)
        target = part(out, places)
        return merge(target, (part(x, axes), target))

    @property
    def reduced(self) -> Geometry:
        """The merged reduced dimensions, with the strides of x: the elements of a row; its offset is x's.

        They depend on the extents and strides of the row alone, and so may the order of a sum: stride 0 first, then from
        the largest stride to the smallest, by magnitude, so that the last dimension is the fastest to read.
        """
        strides = self.x.strides
        return self._row(sorted(self.axes, key=lambda axis: (strides[axis] != 0, -abs(strides[axis]))))

    def _row(self, axes: Sequence[int]) -> Geometry:
        row = part(self.x, axes)
        return merge(row, (row,), keeps_order=True)

    @property
    def geometry(self) -> Geometry:
        """The dimensions of `kept`, then of `reduced`; along the latter the strides of out are 0."""
        geometry = self._geometry
        if geometry is None:
            kept, reduced = self.kept, self.reduced
            strides = (kept.strides[0] + reduced.strides[0], kept.strides[1] + (0,) * len(reduced.shape))
            is_dense = not reduced.shape and kept.is_dense
            geometry = Geometry(kept.shape + reduced.shape, strides, kept.offsets, self.x.size, is_dense)
            object.__setattr__(self, "_geometry", geometry)
        return geometry

    @property
    def layout(self) -> str:
        """The layout part of this descriptor's cell: "rank0" by x, "empty" if x or out has no elements."""
        if not self.out.size or not self.x.size:
            return "empty"
        if self.x.lo or self.out.lo:
            return "offset"
        if not self.x.shape:
            return "rank0"
        return "dense" if self.x.is_dense and self.out.is_dense else "strided"

    @property
    def cell(self) -> str:
        """The text of this descriptor's cell."""
        return f"{self.family}/{self.op}/{dtypes_name([self.x.dtype], self.out.dtype)}/{self.layout}"

    @property
    def flops(self) -> int:
        """One operation an element of x."""
        return self.x.size

    def _make_key(self) -> KernelKey:
        """Return a key with the innermost extent of the row, or of the kept dimensions if nothing is reduced."""
        row = self.reduced.shape or self.kept.shape
        return kernel_key(
            self,
            is_dense=self.x.is_dense and self.out.is_dense,
            size=self.x.size,
            inner=row[-1] if row else 1,
            outer=[(spec, _outer(spec)) for spec in (self.x, self.out)],
        )


def reduced_axes(op: str, axis: Any, rank: int) -> tuple[int, ...]:
    """Return axes sorted and not negative; an integer is one axis. Raises TypeError or ValueError for others."""
    try:
        given = taken(axis, MAX_RANK) if hasattr(type(axis), "__iter__") else (axis,)
        whole = [integer(f"{op}: axis", each) for each in given]
    except TypeError:
        message = f"{op}: axis is {glimpse(axis)}, needs integers; give one, or several in a tuple, () reduces nothing"
        raise TypeError(message) from None
    settled = sorted(each + rank if each < 0 else each for each in whole)
    if any(not 0 <= each < rank for each in settled):
        last = f"from {-rank} to {rank - 1}" if rank else "none"
        message = f"{op}: axis is {glimpse(given)}, not all of it axes of x, which has rank {rank}; needs {last}"
        raise ValueError(message)
    if len(set(settled)) != len(settled):
        message = f"{op}: axis is {given}, which names one axis twice; name each once, negative ones count from the end"
        raise ValueError(message)
    return tuple(settled)


def reduced_shape(shape: tuple[int, ...], axes: tuple[int, ...], *, keepdims: bool) -> tuple[int, ...]:
    """Return the output's shape: extents of 1 at the axes, or none."""
    if keepdims:
        return tuple(1 if axis in axes else extent for axis, extent in enumerate(shape))
    return tuple(extent for axis, extent in enumerate(shape) if axis not in axes)


def reduced_output(  # noqa: PLR0913 - as `infer` takes them
    op: str, x: TensorSpec, axes: tuple[int, ...], out: Any, dtype: str, *, keepdims: bool
) -> TensorSpec:
    """Return the output of an `infer`; out, dtype, keepdims : as there. Raises as `chosen_output` does, and if out says other."""
    shape = reduced_shape(x.shape, axes, keepdims=keepdims)
    chosen = chosen_output(op, out, dtype, shape)
    if keepdims and chosen.shape != shape:
        message = f"{op}: keepdims is True and makes {shape}, and out has {chosen.shape}; leave keepdims out, or describe another out"
        raise ValueError(message)
    return chosen


def check_shapes(op: str, x: TensorSpec, out: TensorSpec, axes: tuple[int, ...]) -> None:
    """Raise ValueError unless out has the shape of x with 1 at the axes, or without them."""
    short, long = (reduced_shape(x.shape, axes, keepdims=keeps) for keeps in (False, True))
    if out.shape not in {short, long}:
        needed = f"{short}" if short == long else f"{short} or {long}"
        message = f"{op}: x {x.shape} over axes {axes} does not give out {out.shape}; needs {needed}; describe out so"
        raise ValueError(message)


def windows(descriptor: Reduction) -> Iterator[tuple[TensorSpec, TensorSpec]]:
    """Yield x and out of parts of a reduction where they lie: the first row, the last one, all rows but the first."""
    x, out, gone = descriptor.x, descriptor.out, descriptor.axes
    kept = [axis for axis in range(x.ndim) if axis not in gone]
    for window in rows(x.shape, kept):
        yield windowed(x, window), windowed(out, window if out.ndim == x.ndim else tuple(window[axis] for axis in kept))


def part(spec: TensorSpec, axes: Sequence[int]) -> TensorSpec:
    """Return the elements of a tensor along some of its dimensions, in the order given, from its first element on."""
    shape = tuple(spec.shape[axis] for axis in axes)
    return TensorSpec(spec.dtype, shape, tuple(spec.strides[axis] for axis in axes), spec.offset)


def _outer(spec: TensorSpec) -> tuple[int, ...]:
    inner = min(spec.strides, key=abs, default=1)
    return tuple(stride for stride in spec.strides if stride != inner)
