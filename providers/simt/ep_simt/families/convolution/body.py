"""Convolution: a product of weights and windows, which are brought from x; few rows of weights meet them where they lie."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from ep_primitives import Convolution

from ep_simt.body import Body
from ep_simt.families.convolution.layout import (
    matrices_of,
    packed_batches,
    packed_windows,
    reach_of,
    windows_parameter,
)
from ep_simt.plan import Operand, Plan
from ep_simt.products import FINISHED, LINES, TILED
from ep_simt.products.product import FINISH, TILES, Arguments, Product, Way, way_of_tiles
from ep_simt.products.tile import LINE_DEPTH
from ep_simt.program import Program

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ep.work.key import KernelKey

    from ep_simt.products.matrices import Matrices
    from ep_simt.target import Target

__all__ = ["BODY"]

_WINDOWS: Final = "families/convolution/windows.h"
_FEW: Final = "convolution_few"
_ENTRIES: Final = {TILES: TILED, _FEW: "families/convolution/few.inc", FINISH: FINISHED}
"""The entries, each with its file."""

_FEWEST: Final = {True: 4, False: 8}
"""Rows with which a tile is not too empty, where groups are single work-items and where not: a block, an eighth of a tile."""
_IMAGES: Final = 2
"""Spatial dimensions, where a key does not say how many there are."""
_MOST_DIMENSIONS: Final = 5
"""Tables of more leave no room in 256 KiB, which some processors' runtimes have for a group."""
_FURTHEST: Final = 1 << 31
"""Tables have numbers of elements and coordinates in 32 bits."""


class _Convolution(Body):
    """One launch, and a second one where groups share the depth. A program for each number of spatial dimensions."""

    descriptor = Convolution

    def refusal(self, descriptor: Convolution) -> str:
        if not all(spec.size for _, spec in descriptor.tensors if spec is not None):
            return "convolution: an operand has no elements"
        if len(descriptor.strides) > _MOST_DIMENSIONS:
            return f"convolution: {len(descriptor.strides)} spatial dimensions are more than {_MOST_DIMENSIONS}"
        if matrices_of(descriptor) is None:
            return "convolution: strides of w make no matrix"
        if reach_of(descriptor) >= _FURTHEST:
            return f"convolution: windows reach {reach_of(descriptor)} elements, at most {_FURTHEST - 1} are counted"
        if len(descriptor.lower()) == 1:
            return "convolution: windows are a matrix as they lie"
        return ""

    def special(self, descriptor: Convolution) -> Hashable:
        return len(descriptor.strides)

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        del key
        return tuple(_ENTRIES)

    def program(self, key: KernelKey, target: Target) -> Program:
        return _program(Product.of(key, target), key.special if isinstance(key.special, int) else _IMAGES)

    def plan(self, descriptor: Convolution, target: Target) -> Plan:
        product, matrices = Product.of(descriptor.key, target), matrices_of(descriptor)
        assert matrices is not None
        count = descriptor.out.shape[0] * descriptor.groups
        way = _way(descriptor, matrices, count, product)
        blocks = -(-matrices.k // way.depth)
        w, x, bias, y = (_operand(descriptor, name) for name in matrices.order)
        wide = product.wide
        beside = (packed_batches(descriptor, wide=wide), packed_windows(descriptor, wide=wide))
        arguments = Arguments((w, x, bias, y), descriptor.bias is not None, (1, 0), count, beside)
        return product.plan(way, matrices, blocks, arguments)


BODY: Final[Body] = _Convolution()


def _way(descriptor: Convolution, matrices: Matrices, count: int, product: Product) -> Way:
    """Return tiles unless there are few rows of weights."""
    if matrices.m >= _FEWEST[product.target.group == 1]:
        return way_of_tiles(matrices, count, product.tile)
    length = descriptor.out.shape[-1]
    items = count * matrices.m * (matrices.n // length) * -(-length // product.line.columns)
    return Way(_FEW, -(-items // product.target.group), max(matrices.k, LINE_DEPTH))


def _operand(descriptor: Convolution, name: str) -> Operand:
    """Return a tensor's arguments; for a bias that is absent, which is not read, those of y."""
    specs = {role.name: (place, spec) for place, (role, spec) in enumerate(descriptor.tensors)}
    place, spec = specs[name]
    if spec is None:
        return _operand(descriptor, "y")
    return Operand(place, spec.itemsize, spec.offset)


@functools.lru_cache(maxsize=256)
def _program(product: Product, spatial: int) -> Program:
    """Return the program of a product with windows of so many dimensions."""
    entries = product.entries(_ENTRIES, windows_parameter(spatial, wide=product.wide))
    words = tuple({**product.words(), "EP_SPATIAL": spatial}.items())
    return Program(f"convolution-{spatial}-{product.name}", words, (*LINES, _WINDOWS), entries)
