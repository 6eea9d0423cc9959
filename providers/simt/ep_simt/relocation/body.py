"""Relocating: the body of families that are a Copy; they share programs, one for each length of elements."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_simt.bits import bits_words, unsigned
from ep_simt.body import BitwiseBody
from ep_simt.elementwise.visit import Layout, layouts, long_rows, packed_geometry
from ep_simt.packs import pack_words, spread_of
from ep_simt.plan import Launch, Plan, operands_of
from ep_simt.program import Entry, Program, access, taken, tensor

if TYPE_CHECKING:
    from ep.layout.dims import Geometry
    from ep.work.key import KernelKey

    import ep
    from ep_simt.target import Target

__all__ = ["Relocating"]

_FILES: Final = ("dialect/packs.h", "elementwise/loops.h", "relocation/relocation.inc")
_TILES: Final = {"u8": 128, "u16": 64, "u32": 64, "u64": 32, "u128": 32}
"""Elements along each side of a tile: 17 KB at most of the shared memory."""

_LARGE: Final = {**_TILES, "u16": 120}
"""The same where a group is one work-item, which has the 32 KB of any device to itself."""

_LINE: Final = 64
"""Bytes of a cache's line."""

_LEAST: Final = 8
"""Elements along both sides from which on a tile is worth its barrier."""


class _Variant(NamedTuple):
    """The properties that decide a program; `element` as called in C after `ep_`."""

    element: str
    wide: bool
    group: int
    spread: int


class Relocating(BitwiseBody):
    """One launch: by tiles where the innermost dimensions change places, else element by element."""

    def __init__(self, descriptor: type[ep.Descriptor]) -> None:
        """Take the kind of descriptor, whose geometry is that of a Copy."""
        self.descriptor = descriptor

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        return ("relocation_dense",) if key.layout == "dense" else ("relocation_strided", "relocation_tiles")

    def program(self, key: KernelKey, target: Target) -> Program:
        element = unsigned(key.dtypes[-1])
        return _program(_Variant(element, Layout.of(key).wide, target.group, spread_of((element,), target)))

    def plan(self, descriptor: Any, target: Target) -> Plan:
        key, space = descriptor.key, descriptor.geometry
        operands = operands_of(descriptor, space.offsets)
        turned = _turned(space, descriptor.out.itemsize) if key.layout == "strided" else None
        if turned is not None:
            tile = _tile(unsigned(descriptor.out.dtype), target.group)
            down, across = (-(-extent // tile) for extent in turned.shape[-2:])
            tiles = turned.size // (turned.shape[-2] * turned.shape[-1]) * down * across
            packed = packed_geometry(turned.shape, turned.strides, (down, across, tiles), wide=key.wide)
            return Plan((Launch("relocation_tiles", tiles * target.group, target.group, (*operands, packed)),))
        spread = spread_of((unsigned(descriptor.out.dtype),), target)
        visit = Layout.of(key).visit(long_rows(space, target), target, spread=spread)
        return Plan((Launch(f"relocation_{key.layout}", visit.items, 0, (*operands, *visit.arguments)),))


def _turned(space: Geometry, itemsize: int) -> Geometry | None:
    """Return a space with x's neighbours along the last dimension but one; None if tiles gain nothing."""
    shape, (x, out) = space.shape, space.strides
    inner = len(shape) - 1
    deep = min((axis for axis in range(len(shape)) if x[axis]), key=lambda axis: abs(x[axis]), default=inner)
    if deep == inner or not x[inner] or min(shape[deep], shape[inner]) < _LEAST:
        return None
    if max(abs(x[deep]), abs(out[inner])) * itemsize >= _LINE or abs(x[inner]) * itemsize < _LINE:
        return None
    return space.in_order([*(axis for axis in range(inner) if axis != deep), deep, inner])


def _tile(element: str, group: int) -> int:
    return (_LARGE if group == 1 else _TILES)[element]


@functools.cache
def _program(variant: _Variant) -> Program:
    """Return the program of a variant."""
    element, wide, group, spread = variant
    tile = _tile(element, group)
    across = min(tile, group)
    words: dict[str, object] = {
        "EP_WIDE": int(wide),
        "EP_ROWS_APART": 1,
        **bits_words(element),
        **pack_words({"x": element, "out": element}, ("t",), spread),
        **access("x", element),
        **access("out", element),
        "EP_GROUP": group,
        "EP_TILE": tile,
        "EP_PITCH": tile + max(1, 4 // (int(element[1:]) // 8)),  # one bank of shared memory more
        "EP_ACROSS": across,
        "EP_DOWN": group // across,
    }
    tensors = taken(tensor("x", element), tensor("out", element))
    both = layouts(wide=wide)
    walks = {**both, "tiles": both["strided"]}
    entries = tuple(
        Entry(f"relocation_{name}", taken(tensors, walk.parameters), f"EP_TAKES_{name.upper()}")
        for name, walk in walks.items()
    )
    name = f"relocation-{element}-{'wide' if wide else 'narrow'}-{group}"
    return Program(name, tuple(words.items()), _FILES, entries)
