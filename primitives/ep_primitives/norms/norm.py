"""Norm: x made into y of its shape, with a number epsilon, and scale and bias that may be absent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep import TensorSpec
from ep_primitives.descriptors.composed import Composed
from ep_primitives.descriptors.validation import check_dtype, check_output, check_spec
from ep_primitives.elementwise.op import FLOATS

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Norm", "check_ends"]


class Norm(Composed):
    """A norm that lowers to other families; its attributes are a place or a number, and epsilon."""

    __slots__ = ()

    @property
    def x(self) -> TensorSpec:
        """The tensor that is normalised."""
        return self.specs[0]  # type: ignore[return-value]  # never a Scalar

    @property
    def epsilon(self) -> float:
        """The number that is added to the variance, or to the mean square."""
        return self.attributes[1]

    @property
    def factors(self) -> Iterator[tuple[str, TensorSpec]]:
        """Scale and bias, those that are there, with their names."""
        return ((name, spec) for name in ("scale", "bias") if isinstance(spec := self.present.get(name), TensorSpec))


def check_ends(op: str, x: TensorSpec, y: TensorSpec) -> None:
    """Raise TypeError or ValueError unless x and y are tensors of one floating element type, and y can be written."""
    check_output(op, y, "y")
    check_spec(op, "x", x)
    check_dtype(op, "x", x, FLOATS)
    check_dtype(op, "y", y, (x.dtype,), is_output=True)
