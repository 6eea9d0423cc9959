"""Scan: rows in pieces; a group goes through the pieces of its rows, or each has one, in three launches with scratch between them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_primitives import SCAN_OPS, Scan

import ep
from ep_simt.body import Body
from ep_simt.elements import ELEMENTS, has_doubles, kind_of, nbytes_of, part_of
from ep_simt.families.scan.cut import ABREAST, BESIDE, PIECE, beside_of, cut_of, lines_of
from ep_simt.mathematics import mathematics
from ep_simt.packs import pack_words, spread_of
from ep_simt.plan import Launch, Operand, Plan, operands_of
from ep_simt.program import Entry, Parameter, Program, access, number, taken, tensor, type_words
from ep_simt.rows.geometry import packed_rows, rows_parameter, rows_words

if TYPE_CHECKING:
    from ep.work.key import KernelKey

    from ep_simt.target import Target

__all__ = ["BODY"]

_FOLDER: Final = "families/scan"
_FILES: Final = ("rows/rows.h", f"{_FOLDER}/total.h")
_ALONE: Final = (f"{_FOLDER}/abreast.h",)
_GROUPS: Final = ("dialect/packs.h", f"{_FOLDER}/groups.inc")
_CHAIN: Final = ("rows/fold.h", "rows/chain.h")
_ENTRIES: Final = ("scan_row", "scan_totals", "scan_carries", "scan_pieces", "scan_columns")
_BLOCK: Final = 32
"""Pieces of which a work-item makes the carries: a group makes them for 8192 pieces at a time, a row of 32 Mi of float32."""
_TOTALS: Final = 256
"""Bytes of their totals that it may hold in registers."""

_JOINED: Final = {
    ("sum", "FLOATING"): "((a) + (b))",
    ("sum", "INTEGER"): "EP_WRAP(a, +, b)",
    ("sum", "COMPLEX"): "EP_OF(complex_sum)(a, b)",
    ("prod", "FLOATING"): "((a) * (b))",
    ("prod", "INTEGER"): "EP_WRAP(a, *, b)",
    ("prod", "COMPLEX"): "EP_OF(complex_product)(a, b)",
    ("max", "FLOATING"): "EP_OF(ep_max)(a, b)",
    ("max", "INTEGER"): "((a) > (b) ? (a) : (b))",
    ("min", "FLOATING"): "EP_OF(ep_min)(a, b)",
    ("min", "INTEGER"): "((a) < (b) ? (a) : (b))",
}


class _Variant(NamedTuple):
    """The properties that decide a program; types as called in C after `ep_`.

    joined_in : the type of totals that grow; a sum in one that is wider than `compute` needs no chain
    """

    op: str
    element: str
    compute: str
    joined_in: str
    wide: bool
    group: int
    spread: int


class _Scan(Body):
    """One launch for rows of one piece, side by side if they lie so, or for as many rows as fill a device; three for longer ones."""

    descriptor = Scan

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        del key
        return _ENTRIES

    def program(self, key: KernelKey, target: Target) -> Program:
        compute = ELEMENTS[key.compute]
        # A double holds what a sum of floats would lose, for an instruction in place of seven; on many a GPU for more than these.
        is_double = target.group == 1 and target.doubles and (key.op, compute) == ("sum", "f32")
        joined_in = "f64" if is_double else compute
        element = ELEMENTS[key.dtypes[0]]
        spread = spread_of((element,), target)
        return _program(_Variant(key.op, element, compute, joined_in, key.wide, target.group, spread))

    def plan(self, descriptor: Scan, target: Target) -> Plan:
        space, key, group = descriptor.geometry, descriptor.key, target.group
        if not space.size:
            return Plan(())
        number = space.size // descriptor.extent
        cut = cut_of(ELEMENTS[key.dtypes[0]], descriptor.extent, space.strides[0][-1], number, target)
        pieces, shared = cut.pieces, () if group == 1 else (cut.lanes, int(cut.across))
        x, out = operands_of(descriptor, space.offsets)
        identity = SCAN_OPS[descriptor.op].identity_of(key.compute)
        rows = packed_rows(space.shape, space.strides, len(space.shape) - 1, wide=key.wide)
        tail = (identity, pieces, *shared, int(descriptor.reverse), rows)
        if cut.is_one:
            beside = beside_of(ELEMENTS[key.dtypes[0]], space.shape, space.strides) if group == 1 else 0
            entry, items = ("scan_columns", beside) if beside else ("scan_row", cut.tiles * group)
            return Plan((Launch(entry, items, group, (x, out, int(descriptor.exclusive), *tail)),))
        itemsize, items = ep.dtype(key.compute).itemsize, cut.tiles * cut.groups * group
        totals = Operand(len(descriptor.tensors), itemsize)
        launches = (
            Launch("scan_totals", items, group, (x, totals, *tail)),
            _carries(totals, (identity, pieces, number), _block(ELEMENTS[key.compute]), group),
            Launch("scan_pieces", items, group, (x, totals, out, int(descriptor.exclusive), *tail)),
        )
        return Plan(launches, number * pieces * itemsize)


BODY: Final[Body] = _Scan()


def _carries(totals: Operand, numbers: tuple[Any, int, int], block: int, group: int) -> Launch:
    """Return the launch that makes the carries of (identity, pieces, rows): work-items that are alone have a row each."""
    _, pieces, rows = numbers
    if group == 1:
        return Launch("scan_carries", rows, 0, (totals, *numbers))
    lanes = min(group, 1 << (-(-pieces // block) - 1).bit_length())
    return Launch("scan_carries", -(-rows // (group // lanes)) * group, group, (totals, *numbers, lanes))


def _block(compute: str) -> int:
    """Return of how many pieces a work-item makes the carries."""
    return min(_BLOCK, _TOTALS // nbytes_of(compute))


@functools.lru_cache(maxsize=1024)
def _program(variant: _Variant) -> Program:
    """Return the program of a variant."""
    op, element, compute, joined_in, wide, group, spread = variant
    kind, part = kind_of(element), part_of(compute)
    joined, is_chained = _JOINED[op, kind], op == "sum" and kind != "INTEGER" and joined_in == compute
    words: dict[str, Any] = {
        "EP_HAS_F64": int(has_doubles((compute, joined_in))),
        "EP_JOINED_IN": f"ep_{joined_in}",
        **type_words(compute),
        "EP_PART": f"ep_{part}",
        "EP_JOIN(a, b)": joined,
        "EP_CHAINED": int(is_chained),
        **(
            {"EP_PIECE": PIECE, "EP_ABREAST": ABREAST, "EP_BESIDE": BESIDE}
            if group == 1
            else _group_words(element, compute, spread)
        ),
        **rows_words(2, group, wide=wide),
        **access("x", element),
        **access("out", element),
        **access("totals", compute),
    }
    x, out, totals = tensor("x", element), tensor("out", element), tensor("totals", compute)
    identity, pieces, exclusive = number("identity", compute), number("pieces", "i64"), number("exclusive", "i32")
    shared = () if group == 1 else (number("lanes", "i32"), number("across", "i32"))
    tail = (identity, pieces, *shared, number("reverse", "i32"), rows_parameter(2, wide=wide))
    file = "" if group > 1 else f"{_FOLDER}/alone.inc"
    over_rows = taken(x, out, (exclusive, *tail))
    entries: tuple[Entry, ...] = (
        _entry("row", over_rows, "out", file),
        _entry("totals", taken(x, totals, tail), "totals", file),
        _entry("carries", taken(totals, (identity, pieces, number("count", "i64"), *shared[:1])), "totals", file),
        _entry("pieces", taken(x, totals, out, (exclusive, *tail)), "out", file),
    )
    if group == 1 and kind != "COMPLEX":
        entries += (_entry("columns", over_rows, "out", f"{_FOLDER}/columns.inc"),)
    name = f"scan-{op}-{element}-{'wide' if wide else 'narrow'}-{group}"
    called = mathematics(joined, part) if kind != "INTEGER" else ()
    kernels = _ALONE if group == 1 else _GROUPS
    files = (*called, *(_CHAIN if is_chained else ()), *_FILES, *kernels)
    return Program(name, tuple(words.items()), files, entries)


def _entry(name: str, parameters: tuple[Parameter, ...], writes: str, file: str) -> Entry:
    return Entry(f"scan_{name}", parameters, f"EP_{name.upper()}_TAKES", frozenset({writes}), file)


def _group_words(element: str, compute: str, spread: int) -> dict[str, object]:
    """Return the words of kernels for groups."""
    packs = pack_words({"x": element, "out": element}, (), spread)
    return {"EP_LINES": lines_of(element), "EP_BLOCK": _block(compute), **packs}
