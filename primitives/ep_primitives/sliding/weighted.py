"""The base of both convolutions: images x, weights w and a bias, and the number of groups that divide the channels."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from ep.dtypes import DTYPES
from ep.integers import integer

from ep import Role, Roles, TensorSpec
from ep_primitives.descriptors.validation import check_dtype, check_output, check_spec
from ep_primitives.sliding.descriptor import SlidingDescriptor
from ep_primitives.sliding.windows import Sliding, check_spatial

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Weighted"]


class Weighted(SlidingDescriptor):
    """A sum of elements of x times weights; its attributes are `Sliding`'s, and the number of groups.

    dtypes  : the element types of x and w, and for each the type of bias and y
    form    : the shape of w, in words
    """

    __slots__ = ()

    roles: ClassVar[Roles] = Roles(
        Role.input("x"), Role.input("w"), Role.input("bias", is_optional=True), Role.output("y")
    )
    dtypes: ClassVar[Mapping[str, str]]
    form: ClassVar[str]

    def _freeze_weighted(
        self, *, x: TensorSpec, w: TensorSpec, bias: TensorSpec | None, y: TensorSpec, groups: int, **places: Any
    ) -> None:
        """Check all operands and attributes, and keep them; `places` are strides, dilations and pads."""
        op = self.family
        check_output(op, y, "y")
        check_spec(op, "x", x)
        check_spec(op, "w", w)
        check_dtype(op, "x", x, tuple(self.dtypes))
        check_dtype(op, "w", w, (x.dtype,))
        check_dtype(op, "y", y, (self.dtypes[x.dtype],), is_output=True)
        sliding = self._sliding(x, w, **places)
        count = self._groups(groups, x, w)
        self._check_y(sliding, count, x, w, y)
        if bias is not None:
            check_spec(op, "bias", bias)
            check_dtype(op, "bias", bias, (y.dtype,))
            if bias.shape != y.shape[1:2]:
                message = (
                    f"{op}: bias has shape {bias.shape}, needs {y.shape[1:2]}, one element for each m; describe bias so"
                )
                raise ValueError(message)
        self._freeze("-", (x, w, bias, y), (*sliding.attributes, count))

    @classmethod
    @abstractmethod
    def _check_y(cls, sliding: Sliding, groups: int, x: TensorSpec, w: TensorSpec, y: TensorSpec) -> None:
        """Raise ValueError if y does not have the shape that the others make."""

    @classmethod
    @abstractmethod
    def _divides(cls, groups: int, x: TensorSpec, w: TensorSpec) -> str:
        """Return the condition on the number of groups, x and w that is not met, "" if all are."""

    @classmethod
    def _sliding(cls, x: TensorSpec, w: TensorSpec, **places: Any) -> Sliding:
        """Return where windows of the extents of w lie. Raises TypeError or ValueError if the arguments do not fit."""
        op = cls.family
        check_spatial(op, "x", x)
        if w.ndim != x.ndim:
            message = (
                f"{op}: w has shape {w.shape}, needs the {x.ndim} dimensions of x {x.shape}; give it as {cls.form}"
            )
            raise ValueError(message)
        return Sliding.checked(op, "w", w.shape[2:], **places)

    @classmethod
    def _groups(cls, given: Any, x: TensorSpec, w: TensorSpec) -> int:
        """Return the number of groups. Raises TypeError or ValueError unless it is an integer that divides the channels."""
        groups = integer(f"{cls.family}: groups", given)
        needed = cls._divides(groups, x, w)
        if groups < 1 or needed:
            message = (
                f"{cls.family}: groups is {groups} with x {x.shape} and w {w.shape}; needs {needed or 'at least 1'}; "
                f"give w as {cls.form}"
            )
            raise ValueError(message)
        return groups

    @property
    def w(self) -> TensorSpec:
        """The weights."""
        return self.specs[1]  # type: ignore[return-value]  # never a Scalar

    @property
    def bias(self) -> TensorSpec | None:
        """The bias added to the sums, (M,)."""
        return self.specs[2]  # type: ignore[return-value]  # never a Scalar

    @property
    def sliding(self) -> Sliding:
        """How windows lie in the larger of x and y."""
        return Sliding.of(self.w.shape[2:], self.attributes)

    @property
    def groups(self) -> int:
        """How many parts channels and weights are divided into."""
        return int(self.attributes[-1])

    @property
    def compute(self) -> str:
        """The accumulation type."""
        return DTYPES[self.out.dtype].compute

    def __repr__(self) -> str:
        parts = [f"{name}={spec!r}" for name, spec in self.present.items()]
        parts += [f"{name}={getattr(self, name)}" for name in ("strides", "dilations", "pads", "groups")]
        return f"{type(self).__name__}({', '.join(parts)})"
