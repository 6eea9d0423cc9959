"""The base of descriptors with windows that slide over the spatial dimensions of a tensor."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ep.layout.cells import dtypes_name
from ep.work.key import KernelKey, kernel_key

from ep import Descriptor, TensorSpec

if TYPE_CHECKING:
    from ep_primitives.sliding.windows import Sliding

__all__ = ["SlidingDescriptor"]


class SlidingDescriptor(Descriptor):
    """A descriptor of images x, (N, C, S...); its attributes begin with `Sliding`'s."""

    __slots__ = ()

    @property
    def x(self) -> TensorSpec:
        """The images, (N, C, S...)."""
        return self.specs[0]  # type: ignore[return-value]  # never a Scalar

    @property
    @abstractmethod
    def sliding(self) -> Sliding:
        """How windows lie."""

    @property
    def strides(self) -> tuple[int, ...]:
        """From one window to the next, for each spatial dimension."""
        return self.sliding.strides

    @property
    def dilations(self) -> tuple[int, ...]:
        """From one element of a window to the next, for each spatial dimension."""
        return self.sliding.dilations

    @property
    def pads(self) -> tuple[int, ...]:
        """The elements beside x that windows may touch: before it in each spatial dimension, then after it."""
        return self.sliding.before + self.sliding.after

    @property
    def layout(self) -> str:
        """The layout part of this descriptor's cell; "empty" says that y has no elements."""
        if not self.out.size:
            return "empty"
        if any(spec.lo for spec in self._tensors):
            return "offset"
        return "dense" if all(spec.is_dense for spec in self._tensors) else "strided"

    @property
    def cell(self) -> str:
        """The text of this descriptor's cell."""
        return f"{self.family}/{self.op}/{dtypes_name([self.x.dtype], self.out.dtype)}/{self.layout}"

    @property
    def _tensors(self) -> list[TensorSpec]:
        return [spec for spec in self.specs if isinstance(spec, TensorSpec)]

    def _make_key(self) -> KernelKey:
        return kernel_key(
            self,
            is_dense=all(spec.is_dense for spec in self._tensors),
            size=self.out.size,
            inner=self.out.shape[-1],
            outer=[(spec, spec.strides[:-1]) for spec in self._tensors],
        )
