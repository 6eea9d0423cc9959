"""Where the elements of strided operands lie, as expressions of a work-item's place in its range."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ep.layout.dims import merge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import ep

__all__ = ["Places", "places"]

_MOST: Final = 4
"""Merged dimensions that a range of three has room for: the two outermost ones share one."""


class Places(NamedTuple):
    """An elementwise visit as a range of work-items.

    sizes    : extents, the one of neighbours in the output first; at most three
    words    : OUT_AT for an operand out, and so on: its place in elements, by the work-item's numbers i, j and k
    strides  : of neighbours, by operand
    is_dense : True if each place is i
    """

    sizes: tuple[int, ...]
    words: Mapping[str, str]
    strides: Mapping[str, int]
    is_dense: bool


def places(out: ep.TensorSpec, operands: Mapping[str, ep.TensorSpec | ep.Scalar]) -> Places | None:
    """Return the visit of all elements of `out`, None if it has too many dimensions."""
    found = merge(out, list(operands.values()))
    shape = found.shape or (1,)
    if len(shape) > _MOST:
        return None
    words, neighbours = {}, {}
    for name, strides, offset in zip(operands, found.strides, found.offsets, strict=True):
        own = strides or (0,)
        words[f"{name.upper()}_AT"] = _sum(_numbers(shape), own, offset)
        neighbours[name] = own[-1]
    return Places(_sizes(shape), words, neighbours, found.is_dense and not any(found.offsets))


def _sizes(shape: Sequence[int]) -> tuple[int, ...]:
    if len(shape) < _MOST:
        return tuple(reversed(shape))
    first, second, *inner = shape
    return (*reversed(inner), first * second)


def _numbers(shape: Sequence[int]) -> list[str]:
    """Return an element's number along each dimension, the outermost first."""
    if len(shape) < _MOST:
        return ["k", "j", "i"][-len(shape) :]
    return [f"k / {shape[1]}", f"k % {shape[1]}", "j", "i"]


def _sum(numbers: Sequence[str], strides: Sequence[int], offset: int) -> str:
    terms = [f"({number}) * {stride}" for number, stride in zip(numbers, strides, strict=True) if stride]
    return " + ".join([*terms, str(offset)])
