"""The honest kernel with the mutant of the moment: whoever runs cases sets it, with the situation of the case that runs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_conformance.saboteurs.implementations import EVERY
from ep_conformance.saboteurs.kernel import Array, ArrayKernel
from ep_conformance.saboteurs.mutants import fault
from ep_conformance.saboteurs.mutants.trigger import Seen, has
from ep_conformance.saboteurs.saboteur import Saboteur
from ep_conformance.saboteurs.strangers import fault as strangers
from ep_conformance.saboteurs.strangers.condition import Launch
from ep_conformance.saboteurs.strangers.table import CONDITIONS
from ep_conformance.saboteurs.stream import HonestStream

if TYPE_CHECKING:
    from ep_conformance.saboteurs.mutants.mutant import Mutant

__all__ = ["MUTANT", "Moment"]

Situation = Mapping[str, str]
_FAULTS: Final = {**fault.FAULTS, **strangers.FAULTS}
_CONDITIONS: Final = {each.name: each for each in CONDITIONS}


class Moment:
    """What is wrong at the moment.

    met     : launches that had its values
    strikes : launches whose result it changed
    """

    mutant: Mutant | None = None
    situation: Situation = MappingProxyType({})
    met = 0
    strikes = 0


class _Mutated(ArrayKernel):
    """Spoil the first output of launches that have the values of the mutant of the moment."""

    owns = EVERY

    def __init__(self, descriptor: ep.Descriptor, cpu: ep.Device) -> None:
        super().__init__(descriptor, cpu)
        self._since: Mutant | None = None
        self._launches = 0
        self._is_graph = False
        self._lies: dict[int, int] = {}

    def launch(self, stream: Any, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        if self._since is not Moment.mutant:  # kernels outlive mutants
            self._since, self._launches = Moment.mutant, 0
        self._launches += 1
        self._is_graph = type(stream) is not HonestStream
        super().launch(stream, memories, scalars)

    def operand(self, memory: ep.Memory) -> ep.Memory:
        found = super().operand(memory)
        self._lies[id(found)] = id(memory.handle)
        return found

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        mutant = Moment.mutant
        if mutant is None or not self._is_of(mutant) or not self._is_met(mutant, operands):
            super().run(cpu, operands)
            return
        Moment.met += 1
        name = next(iter(self.descriptor.outputs))
        before = np.array(self.array(operands, name), order="C")
        super().run(cpu, operands)
        out = self.array(operands, name)
        right = out.tobytes()
        values = np.array(out, order="C")
        with np.errstate(all="ignore"):
            _FAULTS[mutant.fault](values, before)
        raw, target = (each.view(np.uint8) if each.dtype == np.bool_ else each for each in (values, out))
        target[...] = raw
        Moment.strikes += out.tobytes() != right

    def _is_of(self, mutant: Mutant) -> bool:
        of = self.descriptor
        cell = ep.Cell(*of.cell.split("/"))
        return of.family == mutant.family and f"{cell.op}/{cell.dtypes}" in mutant.cells and bool(of.out.size)

    def _is_met(self, mutant: Mutant, operands: Mapping[str, Any]) -> bool:
        tensors = {name: each for name, each in operands.items() if isinstance(each, ep.Memory) and name != "scratch"}
        addresses = {
            name: np.frombuffer(each.host(), np.uint8).ctypes.data for name, each in tensors.items() if each.nbytes
        }
        lies = {name: self._lies.get(id(each), 0) for name, each in tensors.items()}
        of, launches, is_graph = self.descriptor, self._launches, self._is_graph
        if mutant.is_strange:
            held = partial(self._held, operands)
            launch = Launch(of, addresses, lies, held, launches, is_graph)
            return _CONDITIONS[mutant.values[0][1]].holds(launch)
        seen = Seen(of, addresses, lies, launches, is_graph, Moment.situation)
        return all(has(seen, name, value) for name, value in mutant.values)

    def _held(self, operands: Mapping[str, Any], name: str) -> Array:
        """Return what an input holds, and of a number that the launch leaves out its default."""
        spec = self.descriptor.present[name]
        if isinstance(spec, ep.TensorSpec):
            return self.array(operands, name)
        return np.asarray(operands.get(name, self.descriptor.roles.defaults.get(name, 0)))


MUTANT: Final = Saboteur("mutant", _Mutated, "")
