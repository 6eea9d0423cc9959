"""What planted defects of kernels are made of: the operands as arrays, and honest work that is spoilt afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from ep.layout.cells import matches
from ep_primitives.judging import layout

import ep
from ep_conformance.saboteurs.implementations import HonestKernel

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Array", "ArrayKernel", "Defect"]

Array = npt.NDArray[Any]


class ArrayKernel(HonestKernel):
    """A kernel whose operands can be looked at as arrays."""

    def array(self, operands: Mapping[str, Any], name: str) -> Array:
        """Return an operand as an array that shares the CPU's bytes."""
        spec = self.descriptor.specs[self.descriptor.operands.index(name)]
        assert isinstance(spec, ep.TensorSpec)
        return layout.view(spec, np.frombuffer(operands[name].host(), np.uint8))

    def remade(self, descriptor: ep.Descriptor, specs: tuple[Any, ...], attributes: tuple[float, ...]) -> ep.Descriptor:
        """Return the descriptor with other specs and attributes, which nobody validates."""
        restore, (kind, op, *_) = descriptor.__reduce__()
        remade: ep.Descriptor = restore(kind, op, specs, attributes)
        return remade


class Defect(ArrayKernel):
    """A kernel that works honestly, and whose output is spoilt then, of the cells that it is meant for.

    meets : pattern of cells, as in claims.toml
    """

    meets: ClassVar[str]

    def is_met(self) -> bool:
        """Say whether the descriptor is one whose output is spoilt."""
        return bool(self.descriptor.out.size) and matches(self.meets, self.descriptor.cell)

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        if not self.is_met():
            super().run(cpu, operands)
            return
        of = self.descriptor
        given = {
            name: np.array(self.array(operands, name)) if isinstance(spec, ep.TensorSpec) else operands.get(name)
            for name, spec in of.present.items()
        }
        super().run(cpu, operands)
        with np.errstate(all="ignore"):
            self.spoil(given, self.array(operands, of.operands[-1]))

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        """Write what the defect makes of the operands to out, which holds the right result.

        given : copies of all operands as they were before, the output's memory too
        """
        raise NotImplementedError
