"""Base of families that move elements: the layout of their operands, and descriptors that equal a Copy."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ep import Descriptor, Role, Roles, Stage, TensorSpec
from ep_primitives.families.copy.descriptor import Copy

if TYPE_CHECKING:
    from ep.layout.dims import Geometry

    from ep_primitives.judging.reference import Array

__all__ = ["CopyOf", "Relocation", "words"]


class Relocation(Descriptor):
    """A descriptor whose output's elements are its input's, moved."""

    __slots__ = ()

    @property
    def x(self) -> TensorSpec:
        """The tensor that is moved."""
        return self.specs[0]  # type: ignore[return-value]  # never a Scalar

    @property
    def layout(self) -> str:
        """The layout part of this descriptor's cell."""
        if not self.out.size:
            return "empty"
        if self.x.lo or self.out.lo:
            return "offset"
        if not self.out.shape:
            return "rank0"
        return "dense" if self.x.is_dense and self.out.is_dense else "strided"

    @property
    def flops(self) -> int:
        """Nothing is computed."""
        return 0


class CopyOf(Relocation):
    """A relocation that is a Copy of x seen with another shape and other strides, and that lowers to it."""

    __slots__ = ()

    roles: ClassVar[Roles] = Roles(Role.input("x"), Role.output("out"))

    @property
    @abstractmethod
    def seen(self) -> TensorSpec:
        """The elements of x as a tensor that broadcasts to out."""

    @property
    def copy(self) -> Copy:
        """The copy."""
        return Copy(x=self.seen, out=self.out)

    def lower(self) -> tuple[Stage, ...]:
        """Return the copy."""
        return (Stage(self.copy),)

    @property
    def geometry(self) -> Geometry:
        """The merged iteration space of the copy."""
        geometry = self._geometry
        if geometry is None:
            geometry = self.copy.geometry
            object.__setattr__(self, "_geometry", geometry)
        return geometry


def words(array: Array) -> Any:
    """Return an array's elements as bytes without meaning, which NumPy moves unchanged."""
    return np.asarray(array, order="C").view(f"V{array.itemsize}")
