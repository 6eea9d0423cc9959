"""Visits: which work-item visits which elements, as loops.h reads it: a count, or a packed geometry."""

from __future__ import annotations

import functools
import struct
from typing import TYPE_CHECKING, Final, NamedTuple

from ep_simt.program import Parameter, number
from ep_simt.program import struct as structure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep.layout.dims import Geometry
    from ep.work.key import KernelKey

    from ep_simt.target import Target

__all__ = ["Layout", "Visit", "as_written", "layouts", "long_rows", "packed_geometry"]

_MAX_RANK: Final = 16
_MAX_OPERANDS: Final = 5
_HEAD: Final = 6

_PLANE: Final = 2
_SHORT: Final = 8
"""Elements: a loop over fewer costs more than steps from line to line."""


class Visit(NamedTuple):
    """How one descriptor's elements are visited.

    items      : work-items that have something to do
    arguments  : count and run for a dense program, a packed ep_geometry for a strided one
    """

    items: int
    arguments: tuple[int | bytes, ...]


class Layout(NamedTuple):
    """How the entries of a program walk.

    strided  : True if they take a geometry, False if they take a count
    wide     : True if the geometry needs 64-bit integers
    """

    strided: bool
    wide: bool

    @classmethod
    def of(cls, key: KernelKey) -> Layout:
        """Return the layout of a key."""
        strided = key.layout == "strided"
        return cls(strided, strided and key.wide)

    @property
    def name(self) -> str:
        """For names of programs."""
        return ("wide" if self.wide else "strided") if self.strided else "dense"

    @property
    def words(self) -> dict[str, object]:
        """The words of a program that has entries for this layout alone."""
        return {"EP_STRIDED": int(self.strided), "EP_WIDE": int(self.wide)}

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters that entries take for it, after all others."""
        if self.strided:
            return (structure("geometry", "ep_geometry", _form(wide=self.wide).size),)
        return number("n", "i64"), number("run", "i64")

    def visit(self, space: Geometry, target: Target, least: int = 1, spread: int = 1) -> Visit:
        """Return the visit of a space.

        least  : elements that a work-item takes in any case, as far as its row reaches
        spread : elements that it takes at once where neighbours fetch together
        """
        if not space.size:
            return Visit(0, ())
        if not self.strided:
            run = max(target.run, least, spread)
            return Visit(-(-space.size // run), (space.size, run))
        inner = space.shape[-1] if space.shape else 1
        run = min(max(target.steps, least, spread), inner)
        chunks = -(-inner // run)
        rows, batch = space.size // inner, -(-target.run // run)
        items = rows * chunks
        # Rows whose elements lie apart share lines of memory with other rows, which are still in a work-item's cache then.
        lies_apart = any(abs(steps[-1]) > 1 for steps in space.strides if steps)
        across = rows if run > 1 and chunks > 1 and lies_apart and not target.spread else 0
        packed = packed_geometry(space.shape, space.strides, (run, chunks, across, items, batch), wide=self.wide)
        return Visit(-(-items // batch), (packed,))


def layouts(*, wide: bool) -> dict[str, Layout]:
    """Return the layouts of a program that has entries for both, by the names that keys have for them."""
    return {"dense": Layout(strided=False, wide=False), "strided": Layout(strided=True, wide=wide)}


def packed_geometry(shape: Sequence[int], strides: Sequence[Sequence[int]], cut: Sequence[int], *, wide: bool) -> bytes:
    """Return an ep_geometry.

    shape    : extents, innermost last
    strides  : of each operand, in elements
    cut      : the numbers of its head after the rank, as many as the family has use for
    """
    own = (*shape[::-1],) or (1,)
    padding = (0,) * (_MAX_RANK - len(own))
    numbers = [len(own), *cut, *(0,) * (_HEAD - 1 - len(cut)), *own, *padding]
    for steps in strides:
        numbers += [*(steps[::-1] or (0,)), *padding]
    numbers += [0] * (_MAX_RANK * (_MAX_OPERANDS - len(strides)))
    return _form(wide=wide).pack(*numbers)


def long_rows(space: Geometry, target: Target) -> Geometry:
    """Return a space, for a device whose work-items are loops with its longest dimension innermost if the innermost is short."""
    shape = space.shape
    if target.steps == 1 or len(shape) < _PLANE or shape[-1] >= _SHORT:
        return space
    longest = max(range(len(shape)), key=shape.__getitem__)
    return space.in_order([*(axis for axis in range(len(shape)) if axis != longest), longest])


def as_written(space: Geometry) -> Geometry:
    """Return a space with its dimensions in the order of the strides of its last operand, which is out."""
    out = space.strides[-1]
    return space.in_order(sorted(range(len(out)), key=lambda axis: -abs(out[axis])))


@functools.cache
def _form(*, wide: bool) -> struct.Struct:
    return struct.Struct(f"<{_HEAD + _MAX_RANK * (1 + _MAX_OPERANDS)}{'q' if wide else 'i'}")
