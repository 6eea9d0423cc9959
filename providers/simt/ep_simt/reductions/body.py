"""Reduction: the body of families that make each element of out from a row of x."""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import ep
from ep_simt.body import Body
from ep_simt.dialect import text
from ep_simt.elements import ELEMENTS, has_doubles, kind_of, part_of
from ep_simt.mathematics import mathematics
from ep_simt.packs import pack_words, spread_of
from ep_simt.plan import Launch, Operand, Plan, operands_of
from ep_simt.program import Entry, Program, access, number, storage, taken, tensor
from ep_simt.reductions.pieces import is_window, lanes, levels_of, tile
from ep_simt.rows.geometry import packed_rows, rows_parameter, rows_words

if TYPE_CHECKING:
    from ep.layout.dims import Geometry
    from ep.work.key import KernelKey
    from ep_primitives.reductions.dimensions import Reduction as Descriptor

    from ep_simt.target import Target

__all__ = ["Fold", "Lens", "Reduction", "bits_of_infinity", "every_bit"]

_ENTRIES: Final = ("reduce_rows", "reduce_columns", "reduce_windows", "reduce_states")
_SCRATCH: Final = 2
_WORTH_A_VECTOR: Final = 16
_WORTH_A_LINE: Final = 4
"""Windows beside one another that are worth finding where their line begins."""
_ABREAST: Final = 512
"""Elements beside one another that a work-item joins over the runs of windows: few enough for a processor's nearest cache."""
_CLOSE: Final = 16
"""Elements from one window to the next: beyond, too few of what lies between them is in a window."""
_PLACES: Final = {1: 1, 2: 2, 3: 4}


class Lens(NamedTuple):
    """How elements enter a state in one launch, and what leaves it: see state.h."""

    keep: int = 0
    flip: int = 0
    factor: float = 1.0


class Fold(NamedTuple):
    """How elements are joined.

    name   : of the program, beside its element types
    files  : the family's own texts
    read   : the type that elements are read as, as called in C after `ep_`; an unsigned one takes their bits
    store  : the type that results are stored as
    parts  : types of the numbers of a state
    words  : of the files
    rounds_in_double : True if a result of float32 is rounded by way of double
    """

    name: str
    files: tuple[str, ...]
    read: str
    store: str
    parts: tuple[str, ...]
    words: tuple[tuple[str, object], ...]
    rounds_in_double: bool = False

    @property
    def nbytes(self) -> int:
        """The size of a state, a power of two: memories begin at multiples of it."""
        return _PLACES[len(self.parts)] * max(int(part[1:]) // 8 for part in self.parts)


class _Variant(NamedTuple):
    """The properties that decide a program."""

    fold: Fold
    wide: bool
    target: Target


class Reduction(Body):
    """A launch over pieces of rows, and one more for each level of their states; a single one over windows."""

    is_numbered: ClassVar[bool] = False
    """True if a state depends on the numbers of its elements, so that windows share none."""

    @abstractmethod
    def fold(self, key: KernelKey, target: Target | None = None) -> Fold:
        """Return how the elements of a key are joined, on any device or on one like the target."""

    @abstractmethod
    def lens(self, descriptor: Any) -> Lens:
        """Return how the elements of a descriptor enter."""

    def needs(self, key: KernelKey) -> tuple[str, ...]:
        fold = self.fold(key)
        return ("float64",) if has_doubles((fold.read, fold.store, *fold.parts)) else ()

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        del key
        return _ENTRIES

    def program(self, key: KernelKey, target: Target) -> Program:
        return _program(_Variant(self.fold(key, target), key.wide, target))

    def plan(self, descriptor: Descriptor, target: Target) -> Plan:
        if not descriptor.out.size:
            return Plan(())
        reduced, group = descriptor.reduced, target.group
        are_windows = not self.is_numbered and is_window(reduced, target)
        kept = _abreast(descriptor.kept, are_windows=are_windows)
        strides = kept.strides[0] + reduced.strides[0], kept.strides[1] + (0,) * len(reduced.shape)
        packed = packed_rows(kept.shape + reduced.shape, strides, len(kept.shape), wide=descriptor.key.wide)
        x, out = operands_of(descriptor, kept.offsets)
        lens, rows = self.lens(descriptor), math.prod(kept.shape)
        extent = kept.shape[-1] if kept.shape else 1
        tiles = rows // extent * -(-extent // tile(target))
        if are_windows:
            batch = -(-target.steps // min(extent, tile(target)))
            numbers = batch, _beside(kept, reduced), packed
            return Plan((Launch("reduce_windows", -(-tiles // batch), group, (x, out, *lens, *numbers)),))
        fold = self.fold(descriptor.key, target)
        levels, nbytes = levels_of(reduced, target, spread_of((fold.read,), target)), fold.nbytes
        used = tuple(accumulate((rows * level.number for level in levels[:-1]), initial=0))
        states = [*(Operand(_SCRATCH, nbytes, start) for start in used[:-1]), out]

        level = levels[0]
        items = (rows * level.span if level.is_along else tiles) * level.number
        cut = level.outer, level.cuts, level.runs, level.length, level.number, level.span
        entry = "reduce_rows" if level.is_along else "reduce_columns"
        launches = [Launch(entry, items, group, (x, out, states[0], *lens, *cut, packed))]
        for before, level, given, made in zip(levels, levels[1:], states, states[1:], strict=False):
            size = before.number, level.length, level.number, level.span
            items = rows * level.number * level.span
            launches.append(Launch("reduce_states", items, group, (given, out, made, *lens, *size, packed)))
        return Plan(tuple(launches), used[-1] * nbytes)


def _abreast(kept: Geometry, *, are_windows: bool) -> Geometry:
    """Return the kept dimensions with the one last in which rows stand side by side, windows nearest; no result depends on it."""

    def worth(axis: int) -> tuple[bool, int]:
        step, extent = kept.strides[0][axis], kept.shape[axis]
        if are_windows:
            is_worth = extent >= _WORTH_A_LINE and step > 0
            return is_worth, -step if is_worth else extent
        return extent >= _WORTH_A_VECTOR and step == 1, extent

    if not kept.shape:
        return kept
    last = max(reversed(range(len(kept.shape))), key=worth)
    return kept.in_order([*(axis for axis in range(len(kept.shape)) if axis != last), last])


def _beside(kept: Geometry, reduced: Geometry) -> int:
    """Return the elements from a window to the next, 0 if there are others between them than those of windows, or many."""
    run, step = reduced.shape[-1], reduced.strides[0][-1]
    beside = kept.strides[0][-1] if kept.shape else 0
    neighbours = zip(kept.shape, kept.strides[0], strict=True)
    is_whole = step == 1 or any(stride == 1 and extent >= step for extent, stride in neighbours)
    return beside if is_whole and 0 < beside <= min(run * step, _CLOSE) else 0


@functools.lru_cache(maxsize=1024)
def _program(variant: _Variant) -> Program:
    """Return the program of a variant."""
    fold, wide, target = variant
    x, out = fold.read, fold.store
    factor = "f64" if has_doubles((x, out)) else "f32"
    first, second = fold.parts[0], fold.parts[min(1, len(fold.parts) - 1)]
    words: dict[str, object] = {
        "EP_HAS_F64": int(has_doubles((x, out, *fold.parts)) or fold.rounds_in_double),
        "EP_X": f"ep_{_value(x)}",
        "EP_R": f"ep_{_value(out)}",
        "EP_S": f"ep_{first}",
        "EP_B": f"ep_{second}",
        "EP_UNSIGNED": f"ep_u{first[1:]}",
        "EP_BITS": x[1:] if x[0] == "u" else 0,
        "EP_PARTS": len(fold.parts),
        "EP_FACTOR": f"ep_{factor}",
        "EP_FROM_COMPLEX": int(kind_of(x) == "COMPLEX"),
        "EP_JOINS_FOUR": 0,
        "EP_TAKES_ALONE": 0,
        "EP_LANES": lanes(target),
        "EP_TILE": tile(target),
        "EP_ABREAST": _ABREAST,
        **pack_words({"x": x}, (), spread_of((x,), target)),
        **rows_words(2, target.group, wide=wide),
        **access("x", x),
        **access("out", out),
        **dict(fold.words),
    }
    source = "".join(map(text, fold.files)) + "".join(map(str, words.values()))
    called = mathematics(source, "f64" if part_of(_value(x)) == "f64" else "f32")
    files = (
        "rows/rows.h",
        "rows/fold.h",
        "dialect/packs.h",
        "reductions/state.h",
        *fold.files,
        "reductions/pieces.h",
    )
    lens = number("keep", "u64"), number("flip", "u64"), number("factor", factor)
    parameters = taken(tensor("out", out), tensor("states", "state"), lens)
    count, geometry = [number(name, "i64") for name in ("length", "pieces", "span")], [rows_parameter(2, wide=wide)]
    cut = [number(name, "i64") for name in ("outer", "cuts", "runs")]
    from_x = taken(tensor("x", x), parameters, cut, count, geometry)
    from_states = taken(tensor("given", "state"), parameters, [number("extent", "i64")], count, geometry)
    windows = [number("batch", "i64"), number("beside", "i64")]
    from_windows = taken(tensor("x", x), tensor("out", out), lens, windows, geometry)
    writes = frozenset({"out", "states"})
    entries = (
        Entry("reduce_rows", from_x, "EP_ROWS_TAKES", writes, "reductions/rows.inc"),
        Entry("reduce_columns", from_x, "EP_ROWS_TAKES", writes, "reductions/columns.inc"),
        Entry("reduce_windows", from_windows, "EP_WINDOWS_TAKES", file="reductions/windows.inc"),
        Entry("reduce_states", from_states, "EP_STATES_TAKES", writes, "reductions/states.inc", is_brief=True),
    )
    name = f"{fold.name}-{x}-{out}-{'wide' if wide else 'narrow'}-{target.group}"
    return Program(name, tuple(words.items()), (*storage((x, out)), *called, *files), entries)


def _value(element: str) -> str:
    """Return the type that loading an element gives, as called in C after `ep_`."""
    return ELEMENTS[ep.dtype(_NAMES[element]).compute] if kind_of(element) == "FLOATING" else element


_NAMES: Final = {element: dtype for dtype, element in ELEMENTS.items()}


def every_bit(dtype: str) -> int:
    """Return as many set bits as an element has."""
    return (1 << 8 * ep.dtype(dtype).itemsize) - 1


def bits_of_infinity(dtype: str) -> int:
    """Return the bits of infinity in a real floating type."""
    held = ep.dtype(dtype)
    return ((1 << held.exponent) - 1) << held.fraction
