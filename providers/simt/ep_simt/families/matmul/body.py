"""Matmul: a group a tile of the product, or a line; of all its depth or of a part. Parts are added up in a second launch."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_primitives import Matmul

import ep
from ep_simt.body import Body
from ep_simt.elements import ELEMENTS, kind_of, part_of
from ep_simt.elementwise.rows import row_of
from ep_simt.families.matmul.layout import layout_of, product_parameter
from ep_simt.families.matmul.tile import LINE_DEPTH, line_of, tile_of
from ep_simt.mathematics import mathematics
from ep_simt.plan import Given, Launch, Made, Operand, Plan
from ep_simt.products import PRODUCTS
from ep_simt.program import Entry, Program, access, number, taken, tensor
from ep_simt.rows.geometry import rows_parameter, rows_words

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ep.work.key import KernelKey

    from ep_simt.families.matmul.layout import Matrices
    from ep_simt.families.matmul.tile import Line, Tile
    from ep_simt.program import Parameter
    from ep_simt.target import Target

__all__ = ["BODY"]

_FOLDER: Final = "families/matmul"
_FILES: Final = ("rows/rows.h", *PRODUCTS, f"{_FOLDER}/product.h", f"{_FOLDER}/lines.h")
_TILES, _ACROSS, _DEEP, _FINISH = "matmul_tiles", "matmul_across", "matmul_deep", "matmul_finish"
_ENTRIES: Final = (_TILES, _ACROSS, _DEEP, _FINISH)
_PLACES: Final = {"a": 0, "b": 1, "bias": 2, "out": 3}
"""The numbers of the memories; scratch is next."""

_ENOUGH: Final = {True: 8, False: 256}
"""Groups with which the depth is left whole, where they are single work-items and where not."""

_LEAST: Final = 128
"""The depth that a part has at least."""

_SPARSE: Final = 16
"""Tiles are worth it from this share of one on."""

_ARITHMETIC: Final = {
    "FLOATING": {"EP_TIMES(a, b)": "((a) * (b))", "EP_PLUS(a, b)": "((a) + (b))"},
    "INTEGER": {
        "EP_TIMES(a, b)": "((ep_i32)((ep_u32)(a) * (ep_u32)(b)))",
        "EP_PLUS(a, b)": "((ep_i32)((ep_u32)(a) + (ep_u32)(b)))",
    },
}


class _Variant(NamedTuple):
    """The properties that decide a program; elements as called in C after `ep_`, of complex numbers those of their parts.

    given       : of a and b
    made        : of out and bias
    compute     : of the sums over the depth
    is_complex  : True if elements are pairs of parts
    activation  : its name
    """

    given: str
    made: str
    compute: str
    is_complex: bool
    activation: str
    wide: bool
    target: Target

    @property
    def tile(self) -> Tile:
        return tile_of(self.target.group, self.itemsize, is_complex=self.is_complex)

    @property
    def line(self) -> Line:
        return line_of(self.target.group, self.itemsize, is_complex=self.is_complex)

    @property
    def itemsize(self) -> int:
        return 8 if self.compute == "f64" else 4

    @property
    def parts(self) -> int:
        return 2 if self.is_complex else 1


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
        return _ENTRIES

    def program(self, key: KernelKey, target: Target) -> Program:
        return _program(_variant(key, target))

    def plan(self, descriptor: Matmul, target: Target) -> Plan:
        if not descriptor.out.size:
            return Plan(())
        variant, key = _variant(descriptor.key, target), descriptor.key
        (matrices, batches), each = layout_of(descriptor), variant.parts
        count = math.prod(batches.kept)
        way = _way(matrices, count, variant)
        blocks = math.prod(batches.summed) * -(-matrices.k // way.depth) if descriptor.depth else 0
        parts, share = _shared(way, blocks, target)
        elements, itemsize = count * matrices.m * matrices.n, ep.dtype(descriptor.compute).itemsize

        a, b, bias, out = (_operand(descriptor, name, each) for name in matrices.order)
        sums = Operand(len(_PLACES), itemsize // each) if parts > 1 else out
        product = matrices.packed((blocks, parts, share), has_bias=descriptor.bias is not None, wide=key.wide)
        arguments = (a, b, bias, sums, out, _number(0, each), _number(1, each), product, batches.packed(wide=key.wide))
        launch = Launch(way.entry, way.groups * parts * target.group, target.group, arguments)
        if parts == 1:
            return Plan((launch,))
        finish = Launch(_FINISH, -(-elements // target.run), 0, arguments)
        return Plan((launch, finish), parts * elements * itemsize)


BODY: Final[Body] = _Matmul()


def _variant(key: KernelKey, target: Target) -> _Variant:
    given, made, compute = (part_of(ELEMENTS[dtype]) for dtype in (key.dtypes[0], key.dtypes[-1], key.compute))
    is_complex = kind_of(ELEMENTS[key.compute]) == "COMPLEX"
    return _Variant(given, made, compute, is_complex, str(key.special or "none"), key.wide, target)


class _Way(NamedTuple):
    """How the groups go about a product.

    groups  : that a part of the depth takes
    depth   : elements of a block of it
    """

    entry: str
    groups: int
    depth: int


def _way(matrices: Matrices, count: int, variant: _Variant) -> _Way:
    """Return lines for products of a vector and, where work-items have neighbours, for small ones; else tiles."""
    (m, n), tile, line, group = matrices[1:3], variant.tile, variant.line, variant.target.group
    is_alone = group == 1
    is_deep = matrices.a[1] == matrices.b[0] == 1 and matrices.k >= (line.shares if is_alone else group)
    if m == 1 and is_deep:
        return _Way(_DEEP, count * n, LINE_DEPTH * group * line.shares)
    items = count * m * -(-n // line.columns)
    if m == 1 and matrices.b[1] == 1 if is_alone else m == 1 or m * n <= tile.rows * tile.columns // _SPARSE:
        return _Way(_ACROSS, -(-items // group), LINE_DEPTH)
    return _Way(_TILES, count * -(-m // tile.rows) * -(-n // tile.columns), tile.depth)


def _shared(way: _Way, blocks: int, target: Target) -> tuple[int, int]:
    """Return the parts that the depth is in, and the blocks of the depth that each has."""
    wanted = min(_ENOUGH[target.group == 1] // way.groups, blocks * way.depth // _LEAST)
    share = -(-blocks // max(wanted, 1))
    return max(-(-blocks // max(share, 1)), 1), share


def _operand(descriptor: Matmul, name: str, each: int) -> Operand:
    """Return a tensor's arguments, in parts; for a bias that is absent, which is not read, those of out."""
    place = descriptor.operands.index(name)
    spec = descriptor.specs[place]
    if spec is None:
        return _operand(descriptor, "out", each)
    assert isinstance(spec, ep.TensorSpec)
    return Operand(_PLACES[name], spec.itemsize // each, descriptor.geometry.offsets[place] * each)


def _number(place: int, each: int) -> Given | Made:
    return Given(place) if each == 1 else Made(lambda scalars: (scalars[place].real, scalars[place].imag), 2)


@functools.lru_cache(maxsize=1024)
def _program(variant: _Variant) -> Program:
    """Return the program of a variant."""
    given, made, compute, is_complex, activation, wide, target = variant
    expression = "x"
    if activation != "none":
        row = row_of("elementwise_unary", activation, compute)
        assert row is not None, activation
        expression = row.expression
    words: dict[str, Any] = {
        "EP_HAS_F64": int(compute == "f64"),
        "EP_C": f"ep_{compute}",
        # Bytes are multiplied in float32, which holds the sums of 258 products exactly.
        "EP_A": f"ep_{'f32' if compute == 'i32' else compute}",
        "EP_GIVEN": f"ep_{given}",
        "EP_PARTS": variant.parts,
        "EP_RUN": target.run,
        "EP_ACTIVATED": expression,
        **_ARITHMETIC[kind_of(compute)],
        **rows_words(len(_PLACES), target.group, wide=wide),
        **variant.tile.words,
        **variant.line.words,
    }
    elements = {"a": given, "b": given, "bias": made, "parts": compute, "out": made}
    for name, element in elements.items():
        words |= access(name, element)
    parameters = taken(
        *(tensor(name, element) for name, element in elements.items()),
        _numbers("alpha", variant),
        _numbers("beta", variant),
        (product_parameter(wide=wide), rows_parameter(len(_PLACES), wide=wide)),
    )
    called = mathematics(expression, compute) if activation != "none" and kind_of(compute) == "FLOATING" else ()
    writes = frozenset({"parts", "out"})
    name = f"matmul-{given}-{made}-{'complex-' * is_complex}{activation}-{'wide' if wide else 'narrow'}-{target.group}"
    entries = tuple(
        Entry(entry, parameters, writes=writes, file=f"{_FOLDER}/{entry.removeprefix('matmul_')}.inc")
        for entry in _ENTRIES
    )
    return Program(name, tuple(words.items()), (*called, *_FILES), entries)


def _numbers(name: str, variant: _Variant) -> tuple[Parameter, ...]:
    parts = (name, f"{name}_im")[: variant.parts]
    return tuple(number(part, variant.compute) for part in parts)
