"""Matmul: a group a tile of the product, or a line; of all its depth or of a part. Parts are added up in a second launch."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Final

from ep_primitives import Matmul

import ep
from ep_simt.body import Body
from ep_simt.elements import ELEMENTS, kind_of, part_of
from ep_simt.elementwise.rows import row_of
from ep_simt.families.matmul.layout import layout_of
from ep_simt.mathematics import mathematics
from ep_simt.plan import Given, Made, Operand, Plan
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

_ACROSS, _DEEP = "matmul_across", "matmul_deep"
_ENTRIES: Final = {
    TILES: TILED,
    _ACROSS: "families/matmul/across.inc",
    _DEEP: "families/matmul/deep.inc",
    FINISH: FINISHED,
}
"""The entries, each with its file."""

_SPARSE: Final = 16
"""Tiles are worth it from this share of one on."""


class _Matmul(Body):
    """One launch, and a second one where groups share the depth."""

    descriptor = Matmul

    def needs(self, key: KernelKey) -> tuple[str, ...]:
        parts = {part_of(ELEMENTS[dtype]) for dtype in key.dtypes if dtype}
        return tuple(dtype for dtype, element in ELEMENTS.items() if element in parts)

    def special(self, descriptor: Matmul) -> Hashable:
        return descriptor.activation

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        del key
        return tuple(_ENTRIES)

    def program(self, key: KernelKey, target: Target) -> Program:
        return _program(Product.of(key, target), str(key.special or "none"))

    def plan(self, descriptor: Matmul, target: Target) -> Plan:
        if not descriptor.out.size:
            return Plan(())
        product = Product.of(descriptor.key, target)
        (matrices, batches), each = layout_of(descriptor), product.parts
        count = math.prod(batches.kept)
        way = _way(matrices, count, product)
        blocks = math.prod(batches.summed) * -(-matrices.k // way.depth) if descriptor.depth else 0
        a, b, bias, out = (_operand(descriptor, name, each) for name in matrices.order)
        scales = (_number(0, each), _number(1, each))
        beside = (batches.packed(wide=product.wide),)
        return product.plan(
            way, matrices, blocks, Arguments((a, b, bias, out), descriptor.bias is not None, scales, count, beside)
        )


BODY: Final[Body] = _Matmul()


def _way(matrices: Matrices, count: int, product: Product) -> Way:
    """Return lines for products of a vector and, where work-items have neighbours, for small ones; else tiles."""
    (m, n), tile, line, group = matrices[1:3], product.tile, product.line, product.target.group
    is_alone = group == 1
    is_deep = matrices.a[1] == matrices.b[0] == 1 and matrices.k >= (line.shares if is_alone else group)
    if m == 1 and is_deep:
        return Way(_DEEP, count * n, LINE_DEPTH * group * line.shares)
    items = count * m * -(-n // line.columns)
    if m == 1 and matrices.b[1] == 1 if is_alone else m == 1 or m * n <= tile.rows * tile.columns // _SPARSE:
        return Way(_ACROSS, -(-items // group), LINE_DEPTH)
    return way_of_tiles(matrices, count, tile)


def _operand(descriptor: Matmul, name: str, each: int) -> Operand:
    """Return a tensor's arguments, in parts; for a bias that is absent, which is not read, those of out."""
    place = descriptor.operands.index(name)
    spec = descriptor.specs[place]
    if spec is None:
        return _operand(descriptor, "out", each)
    assert isinstance(spec, ep.TensorSpec)
    memory = [role.name for role, _ in descriptor.tensors].index(name)
    return Operand(memory, spec.itemsize // each, descriptor.geometry.offsets[place] * each)


def _number(place: int, each: int) -> Given | Made:
    return Given(place) if each == 1 else Made(lambda scalars: (scalars[place].real, scalars[place].imag), 2)


@functools.lru_cache(maxsize=1024)
def _program(product: Product, activation: str) -> Program:
    """Return the program of a product and what its elements go through."""
    compute, expression = product.compute, "x"
    if activation != "none":
        row = row_of("elementwise_unary", activation, compute)
        assert row is not None, activation
        expression = row.expression
    called = mathematics(expression, compute) if activation != "none" and kind_of(compute) == "FLOATING" else ()
    words = tuple(product.words(expression).items())
    return Program(f"matmul-{product.name}-{activation}", words, (*called, *LINES), product.entries(_ENTRIES))
