"""A Draw is the data of one case: operands between red zones, and the references of its outputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep
    from ep_conformance.judge.operand import Operand
    from ep_conformance.judge.output import Output

__all__ = ["Draw"]


@dataclass(frozen=True)
class Draw:
    """The data of one case, not yet in device memory.

    tensors  : by operand; an input that lies in an output's memory is not among them
    scalars  : the numbers of the launch
    inputs   : the contents of every operand that is read, including an output that the family reads
    outputs  : the outputs to judge, by name
    states   : the needed contents of the states after a launch, bit for bit
    shared   : for an input in an output's memory the name of that output
    """

    tensors: Mapping[str, Operand]
    scalars: Mapping[str, Any]
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Output]
    states: Mapping[str, Any]
    shared: Mapping[str, str]

    @property
    def doubt(self) -> str:
        """The fault that this case could not notice, in words; "" if there is none."""
        return next((output.doubt for output in self.outputs.values() if output.doubt), "")

    def operand(self, name: str) -> Operand:
        """Return where an operand lies."""
        return self.tensors[self.shared.get(name, name)]

    def poisoned_low(self) -> Draw:
        """Return the draw with the other poison in outputs that the family does not read and that are no input's memory."""
        fresh = {name: self.tensors[name].poisoned_low() for name, output in self.outputs.items() if not output.is_used}
        return replace(self, tensors={**self.tensors, **fresh})

    def reversed(self) -> Draw:
        """Return the draw with its elements in reverse order and other numbers."""
        tensors = {name: operand.reversed() for name, operand in self.tensors.items()}
        scalars = {name: type(number)(number != 1) for name, number in self.scalars.items()}
        return replace(self, tensors=tensors, scalars=scalars)

    def inputs_of(self, part: ep.Descriptor) -> dict[str, Any]:
        """Return the inputs of a part of the work, as the device will find them."""
        tensors = {role.name: spec for role, spec in part.tensors if role.name in self.inputs and spec is not None}
        return {**self.scalars, **{name: self.operand(name).found(spec) for name, spec in tensors.items()}}
