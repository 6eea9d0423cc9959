"""One axis of a tensor, as a descriptor gets it: an integer, negative ones counting from the end."""

from __future__ import annotations

from typing import Any

from ep.integers import integer

__all__ = ["axis_within"]


def axis_within(op: str, axis: Any, shape: tuple[int, ...], name: str) -> int:
    """Return an axis of the tensor `name`, not negative. A tensor of rank 0 is a row of one: its axis is 0 or -1.

    Raises TypeError unless it is an integer, ValueError for an axis that the shape does not have.
    """
    given = integer(f"{op}: axis", axis)
    rank = max(len(shape), 1)
    if not -rank <= given < rank:
        message = f"{op}: axis is {given}, needs an integer from {-rank} to {rank - 1} for {name} {shape}; negative ones count from the end"
        raise ValueError(message)
    return given + rank if given < 0 else given
