"""All float32 values through one op: the slices of profile `exhaustive`, compared in C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy.typing as npt
from ep_primitives.elementwise.cells import ElementwiseFamily

import ep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_primitives.elementwise.domain import Domain

__all__ = ["CHUNK", "INPUTS", "Sweep", "sweeps"]

_FAMILIES: Final = ("elementwise_unary", "cast")
_SLICES: Final = 64
INPUTS: Final = (1 << 32) // _SLICES
CHUNK: Final = 1 << 15
"""Inputs of one launch: few enough for the reference's intermediate arrays to fit a cache."""

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A case over 1/64 of all float32: those whose bits, as an integer, are `first` and the numbers after it.

    descriptors : one for each set of attributes; the launches, each over a part of the inputs, take them in turn
    domain      : of the input; values outside of it are not judged, unless it is open
    """

    name: str
    descriptors: tuple[ep.Descriptor, ...]
    domain: Domain
    first: int
    profile: str = "exhaustive"

    @property
    def descriptor(self) -> ep.Descriptor:
        """The descriptor with the usual attributes."""
        return self.descriptors[0]


def sweeps(family: ep.Family, cell: ep.Cell) -> Iterator[Sweep]:
    """Yield the slices of a cell: none unless it is dense and its one input is a float32."""
    if cell.layout != "dense" or family.name not in _FAMILIES or not isinstance(family, ElementwiseFamily):
        return
    signature = family.signature(cell)
    if signature.inputs != ("float32",):
        return
    specs = {"x": ep.TensorSpec("float32", (CHUNK,)), "out": ep.TensorSpec(signature.out, (CHUNK,))}
    descriptors = tuple(
        family.describe(signature.op, specs, attributes) for attributes in family.attribute_sets(signature)
    )
    for place in range(_SLICES):
        yield Sweep(f"every-float32-{place:02}", descriptors, family.domains(signature)[0], place * INPUTS)
