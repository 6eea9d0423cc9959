"""Matmul: a group a tile of the product, of all its depth or of a part; parts are added up in a second launch."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_primitives import Matmul

import ep
from ep_simt.body import Body
from ep_simt.elements import ELEMENTS, kind_of, part_of, unknown
from ep_simt.elementwise.rows import row_of
from ep_simt.families.matmul.layout import OPERANDS, batches_of, packed_product, product_parameter
from ep_simt.families.matmul.tile import Tile, tile_of
from ep_simt.mathematics import mathematics
from ep_simt.plan import Given, Launch, Made, Operand, Plan
from ep_simt.program import Entry, Program, access, number, taken, tensor
from ep_simt.rows.geometry import rows_parameter, rows_words

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ep.work.key import KernelKey

    from ep_simt.program import Parameter
    from ep_simt.target import Target

__all__ = ["BODY"]

_FILES: Final = ("rows/rows.h", "families/matmul/matmul.inc")
_TILES, _FINISH = "matmul_tiles", "matmul_finish"

_ENOUGH: Final = {True: 8, False: 256}
"""Groups with which the depth is left whole, where they are single work-items and where not."""

_LEAST: Final = 128
"""The depth that a part has at least."""

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
        return tile_of(self.target.group, 8 if self.compute == "f64" else 4, is_complex=self.is_complex)

    @property
    def parts(self) -> int:
        return 2 if self.is_complex else 1


class _Matmul(Body):
    """One launch, and a second one where groups share the depth."""

    descriptor = Matmul

    def reason(self, key: KernelKey) -> str:
        return unknown(key.dtypes)

    def needs(self, key: KernelKey) -> tuple[str, ...]:
        parts = {part_of(ELEMENTS[dtype]) for dtype in key.dtypes if dtype}
        return tuple(dtype for dtype, element in ELEMENTS.items() if element in parts)

    def special(self, descriptor: Matmul) -> Hashable:
        return descriptor.activation

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        del key
        return _TILES, _FINISH

    def program(self, key: KernelKey, target: Target) -> Program:
        return _program(_variant(key, target))

    def plan(self, descriptor: Matmul, target: Target) -> Plan:
        if not descriptor.out.size:
            return Plan(())
        variant = _variant(descriptor.key, target)
        tile, each, (m, n), k = variant.tile, variant.parts, descriptor.out.shape[-2:], descriptor.a.shape[-1]
        batches = batches_of(descriptor)
        steps = batches.summed * -(-k // tile.depth) if descriptor.depth else 0
        groups = batches.matrices * -(-m // tile.rows) * -(-n // tile.columns)
        parts, share = _shared(groups, steps, tile, target)
        elements, itemsize = batches.matrices * m * n, ep.dtype(descriptor.compute).itemsize

        a, b, bias, out = (_operand(descriptor, place, offset, each) for place, offset in enumerate(batches.offsets))
        sums = Operand(len(OPERANDS), itemsize // each) if parts > 1 else out
        numbers = [_number(place, each) for place in range(2)]
        tail = (*numbers, packed_product(descriptor, steps, parts, share), batches.rows)
        arguments = (a, b, bias, sums, out, *tail)
        tiles = Launch(_TILES, groups * parts * target.group, target.group, arguments)
        if parts == 1:
            return Plan((tiles,))
        finish = Launch(_FINISH, -(-elements // target.run), 0, arguments)
        return Plan((tiles, finish), parts * elements * itemsize)


BODY: Final[Body] = _Matmul()


def _variant(key: KernelKey, target: Target) -> _Variant:
    given, made, compute = ELEMENTS[key.dtypes[0]], ELEMENTS[key.dtypes[-1]], ELEMENTS[key.compute]
    is_complex = kind_of(made) == "COMPLEX"
    return _Variant(*map(part_of, (given, made, compute)), is_complex, key.special or "none", key.wide, target)


def _shared(groups: int, steps: int, tile: Tile, target: Target) -> tuple[int, int]:
    """Return the parts that the depth is in, and the blocks of the depth that each has.

    groups  : tiles of the product
    steps   : blocks of the depth
    """
    wanted = min(_ENOUGH[target.group == 1] // groups, steps * tile.depth // _LEAST)
    share = -(-steps // max(wanted, 1))
    return max(-(-steps // max(share, 1)), 1), share


def _operand(descriptor: Matmul, place: int, offset: int, each: int) -> Operand:
    """Return a tensor's arguments, in parts; for a bias that is absent, which is not read, those of out."""
    spec = getattr(descriptor, OPERANDS[place])
    if spec is None:
        return _operand(descriptor, OPERANDS.index("out"), 0, each)
    return Operand(place, spec.itemsize // each, offset * each)


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
        "EP_PARTS": variant.parts,
        "EP_RUN": target.run,
        "EP_ACTIVATED": expression,
        **_ARITHMETIC[kind_of(compute)],
        **rows_words(len(OPERANDS), target.group, wide=wide),
        **variant.tile.words,
    }
    elements = {"a": given, "b": given, "bias": made, "parts": compute, "out": made}
    for name, element in elements.items():
        words |= access(name, element)
    parameters = taken(
        *(tensor(name, element) for name, element in elements.items()),
        _numbers("alpha", variant),
        _numbers("beta", variant),
        (product_parameter(wide=wide), rows_parameter(len(OPERANDS), wide=wide)),
    )
    called = mathematics(expression, compute) if activation != "none" and kind_of(compute) == "FLOATING" else ()
    writes = frozenset({"parts", "out"})
    name = f"matmul-{given}-{made}-{'complex-' * is_complex}{activation}-{'wide' if wide else 'narrow'}-{target.group}"
    entries = tuple(Entry(entry, parameters, writes=writes) for entry in (_TILES, _FINISH))
    return Program(name, tuple(words.items()), (*called, *_FILES), entries)


def _numbers(name: str, variant: _Variant) -> tuple[Parameter, ...]:
    parts = (name, f"{name}_im")[: variant.parts]
    return tuple(number(part, variant.compute) for part in parts)
