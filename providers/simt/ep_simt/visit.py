"""Visits: what a launcher gives a program besides memories: how many work-items, and the constants of one descriptor."""

from __future__ import annotations

import functools
import struct
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from ep.work.descriptor import Descriptor

    from ep_simt.program import Program
    from ep_simt.random_program import RandomProgram

__all__ = ["Visit", "geometry_nbytes", "visit_of"]

_MAX_RANK: Final = 16
_MAX_OPERANDS: Final = 3
_HEAD: Final = 4


class Visit(NamedTuple):
    """How one descriptor's elements are visited.

    items       : work-items that have something to do; the launcher rounds them up to whole groups
    geometry    : the last arguments: count and run for a dense program, a packed ep_geometry for a strided one
    offsets     : for each operand the element offset of its first element, in its memory
    attributes  : as many as the entries of a family with rows take
    """

    items: int
    geometry: tuple[int | bytes, ...]
    offsets: tuple[int, ...]
    attributes: tuple[float, ...]


def visit_of(program: Program | RandomProgram, descriptor: Descriptor, run: int) -> Visit:
    """Return the visit of a descriptor that a program runs.

    run : the most elements, neighbours in the innermost dimension, that one work-item visits
    """
    space = program.space_of(descriptor)
    attributes = (*descriptor.attributes, 0.0, 0.0)[:2]
    if not program.strided or not space.size:
        return Visit(-(-space.size // run), (space.size, run), space.offsets, attributes)
    shape = space.shape[::-1] or (1,)
    run = min(run, shape[0])
    chunks = -(-shape[0] // run)
    items = space.size // shape[0] * chunks
    padding = (0,) * (_MAX_RANK - len(shape))
    numbers = [len(shape), run, chunks, items, *shape, *padding]
    for strides in space.strides:
        numbers += [*(strides[::-1] or (0,)), *padding]
    numbers += [0] * (_MAX_RANK * (_MAX_OPERANDS - len(space.strides)))
    return Visit(items, (_layout(program).pack(*numbers),), space.offsets, attributes)


def geometry_nbytes(program: Program | RandomProgram) -> int:
    """Return the length of the geometry argument of a strided program."""
    return _layout(program).size


@functools.cache
def _form(*, wide: bool) -> struct.Struct:
    return struct.Struct(f"<{_HEAD + _MAX_RANK * (1 + _MAX_OPERANDS)}{'q' if wide else 'i'}")


def _layout(program: Program | RandomProgram) -> struct.Struct:
    return _form(wide=program.wide)
