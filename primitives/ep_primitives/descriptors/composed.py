"""Base of descriptors that lower to others and whose operands have no common iteration space."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ep.layout.dims import Geometry, merge
from ep.work.key import KernelKey, kernel_key

from ep import Descriptor, TensorSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Composed"]


class Composed(Descriptor):
    """A descriptor whose tensors have shapes of their own, each with any strides.

    words : the arguments beside operands, each a property
    """

    __slots__ = ()

    words: ClassVar[tuple[str, ...]] = ()

    @property
    def given(self) -> Iterator[TensorSpec]:
        """The tensors that are there."""
        return (spec for spec in self.specs if isinstance(spec, TensorSpec))

    @property
    def is_dense(self) -> bool:
        """True if every tensor is."""
        return all(spec.is_dense for spec in self.given)

    @property
    def geometry(self) -> Geometry:
        """The merged dimensions of the first output, with zeros as the strides of all other operands."""
        geometry = self._geometry
        if geometry is None:
            alone = merge(self.out, [spec if spec is self.out else None for spec in self.specs])
            offsets = tuple([spec.offset if isinstance(spec, TensorSpec) else 0 for spec in self.specs])
            geometry = alone._replace(offsets=offsets, is_dense=self.is_dense)
            object.__setattr__(self, "_geometry", geometry)
        return geometry

    @property
    def layout(self) -> str:
        """The layout part of this descriptor's cell, from all tensors; "empty" if one has no elements."""
        if not all(spec.size for spec in self.given):
            return "empty"
        if any(spec.lo for spec in self.given):
            return "offset"
        if not any(spec.shape for spec in self.given):
            return "rank0"
        return "dense" if self.is_dense else "strided"

    def __repr__(self) -> str:
        parts = [] if self.op == "-" else [repr(self.op)]
        parts += [f"{name}={spec!r}" for name, spec in self.present.items()]
        parts += [f"{name}={getattr(self, name)!r}" for name in self.words]
        return f"{type(self).__name__}({', '.join(parts)})"

    def _make_key(self) -> KernelKey:
        outer = []
        for spec in self.given:
            inner = min(spec.strides, key=abs, default=1)
            outer.append((spec, tuple(stride for stride in spec.strides if stride != inner)))
        extents = self.geometry.shape
        return kernel_key(
            self,
            is_dense=self.is_dense,
            size=max(spec.size for spec in self.given),
            inner=extents[-1] if extents else 1,
            outer=outer,
        )
