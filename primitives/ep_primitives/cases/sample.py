"""A sample is a descriptor to time, of the size and with the contents that programs have; the suite's cases are small and odd."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_primitives.judging.layout import settled
from ep_primitives.judging.reference import Array, array_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    Draw = Callable[[np.random.Generator, ep.TensorSpec], Array]

__all__ = ["CACHED", "SIZES", "Sample", "between", "cached_rows", "distinct", "samples", "usual"]

SIZES: Final = {"1": 1, "1Ki": 1 << 10, "64Ki": 1 << 16, "1Mi": 1 << 20, "16Mi": 1 << 24}
"""Elements by name: a launch, the two caches of a core, the one that cores share, memory."""

CACHED: Final = "64Ki"
"""The size that the caches of cores hold, of which each thread has enough not to wait for the others."""

_BLOCK: Final = (1 << 18) - 5
"""Elements that are drawn; larger tensors repeat them. No power of two, so that rows of a matrix differ."""
_SEVEN: Final = 7


@dataclass(frozen=True, slots=True)
class Sample:
    """A descriptor with data, to be timed.

    name        : last part of its id, often its size
    descriptor  : the computation
    contents    : of operands whose usual contents do not do: a function from a generator and the operand's spec to an array
                  of its shape and element type, or the number for a Scalar; `usual` serves for all others
    is_quick    : True if a run with few and small samples has it
    parts       : for a large sample of a family whose `parts` do not do, or are as large: from the descriptor to parts of
                  it, descriptors over windows of the same memories, whose results are judged for all
    cached      : of an operation whose elements may take longer to compute than to move: the same of as many elements of
                  the largest operand as the caches of cores hold; says nothing of smaller samples
    """

    name: str
    descriptor: ep.Descriptor
    contents: Mapping[str, Draw | complex] = field(default_factory=dict)
    is_quick: bool = False
    parts: Callable[[Any], Iterable[ep.Descriptor]] | None = None
    cached: ep.Descriptor | None = None

    @property
    def id(self) -> str:
        """The descriptor's cell and the name, as cases of the suite have them."""
        return f"{self.descriptor.cell}/{self.name}"

    def data(self, rng: np.random.Generator) -> dict[str, Any]:
        """Return an array of the logical shape for each tensor that is read, and a number for each Scalar."""
        descriptor = self.descriptor
        found: dict[str, Any] = {}
        for role, spec in descriptor.tensors:
            if spec is not None and role.name in descriptor.roles.read and role.name not in descriptor.outputs:
                draw: Any = self.contents.get(role.name, usual)
                found[role.name] = settled(spec, np.asarray(draw(rng, spec)))
        for role, scalar in descriptor.numbers:
            if scalar is not None:
                default = descriptor.roles.defaults.get(role.name, 3)
                found[role.name] = self.contents.get(role.name, default)
        return found


def cached_rows(width: int) -> int:
    """Return how many rows of `width` elements the caches of cores hold, 0 where not one."""
    return SIZES[CACHED] // width


def usual(rng: np.random.Generator, spec: ep.TensorSpec) -> Array:
    """Return normal numbers for floats, small whole ones of both signs for integers, as many true as false bools."""
    kind = ep.dtype(spec.dtype).kind
    count = min(spec.size, _BLOCK)
    block: Array
    if kind == "b":
        block = rng.random(count) < 0.5  # noqa: PLR2004 - half of them
    elif kind in "iu":
        block = rng.integers(0 if kind == "u" else -_SEVEN, _SEVEN, count, endpoint=True)
    else:
        block = rng.standard_normal(count)
        block = block + 1j * rng.standard_normal(count) if kind == "c" else block
    return np.resize(block.astype(array_dtype(spec.dtype)), spec.shape)


def between(low: float, high: float) -> Draw:
    """Return the draw of numbers evenly spread from `low` to `high`, whole ones for integers, which leave `high` out."""

    def draw(rng: np.random.Generator, spec: ep.TensorSpec) -> Array:
        count = min(spec.size, _BLOCK)
        is_whole = ep.dtype(spec.dtype).kind in "iu"
        block = rng.integers(int(low), int(high), count) if is_whole else rng.uniform(low, high, count)
        return np.resize(block.astype(array_dtype(spec.dtype)), spec.shape)

    return draw


def distinct(rng: np.random.Generator, spec: ep.TensorSpec) -> Array:
    """Return the whole numbers from 0 on in any order: of equal elements libraries choose one or the other."""
    return rng.permutation(spec.size).reshape(spec.shape).astype(array_dtype(spec.dtype))


def samples() -> Iterator[tuple[ep.Family, Sample]]:
    """Yield the samples of every installed family, strangers' too: those in `SAMPLES` of a module `speed` beside the family's own."""
    for family in ep.families().values():
        package = sys.modules[type(family).__module__].__package__
        name = f"{package}.speed"
        if package and find_spec(name) is not None:
            for sample in import_module(name).SAMPLES:
                if sample.descriptor.family == family.name:
                    yield family, sample
