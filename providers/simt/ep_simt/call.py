"""Calls: what a launch of a descriptor gives the entries of its program, whatever API enqueues them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ep
from ep_simt.program import Parameter, Program, entry_of, program_of
from ep_simt.random_program import ADVANCE, ADVANCE_PARAMETERS, RandomProgram, random_entry_of, random_program_of
from ep_simt.visit import visit_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ep.work.descriptor import Descriptor
    from ep.work.key import KernelKey

__all__ = ["Call", "Entry", "calls_of", "entries_of"]

_WORD: Final = 8
_BLOCK: Final = 4
"""Words of one block of random numbers: a work-item takes at least so many elements."""

Place = tuple[int, int]


class Entry(NamedTuple):
    """One kernel of a program, by its name, and what it takes."""

    name: str
    parameters: tuple[Parameter, ...]


def entries_of(key: KernelKey) -> tuple[Program | RandomProgram, tuple[Entry, ...]]:
    """Return the program of a kernel key, and the entries that a launch calls, one after the other."""
    if key.family == "random_fill":
        fills = random_program_of(key)
        return fills, (Entry(random_entry_of(key), fills.parameters), Entry(ADVANCE, ADVANCE_PARAMETERS))
    program = program_of(key)
    return program, (Entry(entry_of(key), program.parameters),)


class Call:
    """One entry's part of every launch of a descriptor.

    items   : work-items that have something to do; the launcher rounds them up to whole groups
    places  : of each operand the bytes of an element and the offset, in elements, of the first; a number has 0 bytes
    """

    __slots__ = ("_constants", "_numbers", "items", "places")

    def __init__(
        self,
        items: int,
        places: tuple[Place, ...],
        constants: tuple[Any, ...],
        numbers: Callable[[tuple[Any, ...]], Sequence[Any]] | None = None,
    ) -> None:
        """Take what never changes; `numbers` makes further arguments of a launch's scalars."""
        self.items = items
        self.places = places
        self._constants = constants
        self._numbers = numbers

    def arguments(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> list[Any]:
        """Return what the entry takes, as its parameters say: a handle for each memory, packed bytes for a geometry."""
        arguments: list[Any] = []
        rest = iter(memories)
        numbers = iter(scalars)
        for itemsize, offset in self.places:
            if itemsize:
                memory = next(rest)
                arguments += (memory.handle, memory.offset // itemsize + offset)
            else:
                arguments.append(next(numbers))
        if self._numbers is not None:
            arguments += self._numbers(scalars)
        arguments += self._constants
        return arguments


def calls_of(program: Program | RandomProgram, descriptor: Descriptor, run: int) -> tuple[Call, ...]:
    """Return the calls of a descriptor, one for each of its key's entries, in their order.

    run : the most elements, neighbours in the innermost dimension, that one work-item visits
    """
    if isinstance(program, RandomProgram):
        return _random_calls(program, descriptor, max(run, _BLOCK))
    visit = visit_of(program, descriptor, run)
    takes_attributes = any(parameter.role == "attribute" for parameter in program.parameters)
    places = tuple(
        (0 if isinstance(spec, ep.Scalar) else spec.itemsize, offset)
        for spec, offset in zip(descriptor.specs, visit.offsets, strict=True)
    )
    return (Call(visit.items, places, (*visit.attributes * takes_attributes, *visit.geometry)),)


def _random_calls(program: RandomProgram, descriptor: Any, run: int) -> tuple[Call, ...]:
    # Every work-item of the fill reads the state, so that only a call of its own can come after all of them.
    visit = visit_of(program, descriptor, run)
    state, out = (_WORD, 0), (descriptor.out.itemsize, visit.offsets[0])
    return (
        Call(visit.items, (state, out), visit.geometry, descriptor.limits),
        Call(1, (state,), (descriptor.words,)),
    )
