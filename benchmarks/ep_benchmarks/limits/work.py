"""What a descriptor has to do at least, by its definition, and how a limit does as much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import ep

__all__ = ["Limit", "Limits", "Work", "work_of"]


class Work(NamedTuple):
    """The least that a launch does.

    read, written : bytes, each operand's distinct ones once
    flops         : operations by the definition
    dtype         : element type of the first operand, whose unit multiplies
    """

    read: int
    written: int
    flops: int
    dtype: str

    @property
    def nbytes(self) -> int:
        """All bytes."""
        return self.read + self.written


class Limit(NamedTuple):
    """Something that does as much as a Work and nothing else.

    kind : "memory", or the element type whose unit multiplies
    runs : ways to do so much work so often, of which the quickest counts
    """

    kind: str
    runs: Sequence[Callable[[int], None]]


class Limits(Protocol):
    """What a device can do at most."""

    def limit(self, work: Work) -> Limit | None:
        """Return the limit that binds a Work, None if nothing is known to."""

    def figures(self) -> dict[str, Any]:
        """Return the limits of the report: `source`, `threads`, `memory` in GB/s by kind and bytes, `products` in GFLOP/s by type."""

    def ceilings(self) -> Mapping[str, float]:
        """Return FLOP/s by element type."""


def work_of(descriptor: ep.Descriptor) -> Work:
    """Return the least that a descriptor does."""
    written = sum(spec.size * spec.itemsize for spec in descriptor.outputs.values())
    first = next(spec for spec in descriptor.specs if spec is not None)
    products = {"uint8": "int8", "complex64": "float32", "complex128": "float64"}
    dtype = products.get(first.dtype, first.dtype)
    return Work(max(0, descriptor.nbytes_moved - written), written, descriptor.flops, dtype)
