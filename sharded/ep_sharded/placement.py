"""Placements: what the ranks along one dimension of a mesh hold of a tensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ep.ground.glimpse import glimpse
from ep.integers import integer
from ep_primitives import REDUCE_OPS

__all__ = ["LINEAR", "OPS", "Broadcast", "Partial", "Placement", "Split"]

OPS: Final = ("sum", "prod", "min", "max", "mean")
"""The ops of partial tensors: those of AllReduce."""

LINEAR: Final = ("sum", "mean")
"""The ops whose terms may each go through a linear map."""


@dataclass(frozen=True, slots=True)
class Split:
    """Each rank holds a part of one axis, in the order of the ranks; parts differ by at most one element, the first are longer.

    axis : of the tensor; a negative one counts from the end. Raises TypeError for no integer
    """

    axis: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", integer("Split: axis", self.axis))

    def __str__(self) -> str:
        return f"S({self.axis})"


@dataclass(frozen=True, slots=True)
class Broadcast:
    """Each rank holds all of it."""

    def __str__(self) -> str:
        return "B"


@dataclass(frozen=True, slots=True)
class Partial:
    """Each rank holds a term of the tensor's shape; the tensor is `op` over the terms, in the order of the ranks.

    op : one of OPS. Raises ValueError for anything else
    """

    op: str = "sum"

    def __post_init__(self) -> None:
        if type(self.op) is not str or self.op not in OPS:
            message = f"Partial: op is {glimpse(self.op)}, needs one of {', '.join(OPS)}"
            raise ValueError(message)

    @property
    def is_spread(self) -> bool:
        """True if the terms of a tensor that all hold are one tensor and identities, False if each is the tensor itself."""
        return self.op in {"sum", "prod"}

    def identity(self, dtype: str) -> bool | int | float:
        """Return the term that changes nothing, as a number of an element type. A mean has none."""
        return REDUCE_OPS[self.op].identity_of(dtype)

    def __str__(self) -> str:
        return f"P({self.op})"


Placement = Split | Broadcast | Partial
