"""Conditions of the numbers that operands hold: ties, ends of types, NaN, zeros."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from ep_primitives.judging.reference import limits

import ep
from ep_conformance.saboteurs.strangers.condition import Condition
from ep_conformance.saboteurs.strangers.groups import EXPONENTIALS, NORMS, PICKING
from ep_conformance.saboteurs.strangers.sight import array, is_floating, line, source, values

if TYPE_CHECKING:
    from ep_conformance.saboteurs.kernel import Array
    from ep_conformance.saboteurs.strangers.condition import Launch

__all__ = ["CONDITIONS"]

_MANY: Final = 64
_FEW: Final = 4
_BEYOND_EXP: Final = 100.0
_ANYWHERE: Final = ("dense", "strided")


def _all(launch: Launch) -> Array:
    return values(array(launch)).reshape(-1)


def _of_signs(launch: Launch) -> Array:
    """Return the numbers of the first input as floating ones, which keep the signs of NaN and of zeros."""
    return _all(launch).astype(np.float64)


def _bytes(launch: Launch) -> Array:
    held = array(launch)
    return np.zeros(0, np.uint8) if held is None else np.ascontiguousarray(held).view(np.uint8)


def _ends(launch: Launch) -> bool:
    row = ep.dtype(source(launch).dtype)
    held = _all(launch)
    return row.kind in "iu" and held.size > 0 and (held.min(), held.max()) == row.range


def _passes(launch: Launch, bits: int, *dtypes: str) -> bool:
    held = _all(launch)
    return source(launch).dtype in dtypes and bool(((held > 2**bits) & (held % 2 == 1)).any())


def _has_subnormals(launch: Launch) -> bool:
    held = _all(launch)
    if not is_floating(launch):
        return False
    return bool(((held != 0) & (np.abs(held) < float(limits(source(launch).dtype).smallest_normal))).any())


def _peaks_at(launch: Launch, at: int) -> bool:
    """Say whether the maximum of the first row is at an end of it, and nowhere else."""
    held = line(launch)
    return held.size > _FEW and bool((held < held[at]).sum() == held.size - 1)


def _ties_afar(launch: Launch) -> bool:
    held = line(launch)
    places = np.flatnonzero(held == held.max()) if held.size > _MANY else np.zeros(1)
    return bool(places[0] < held.size // 2 <= places[-1])


def _steps(launch: Launch, sign: int) -> bool:
    held = line(launch)
    rising = held[1:] > held[:-1] if sign > 0 else held[1:] < held[:-1]
    return held.size > _FEW and bool(rising.all())


CONDITIONS: Final = (
    Condition(
        "all-equal",
        "Nothing is ever larger than the first element: places stay uninitialised, and variances turn negative (torch/cutorch#331).",
        (*PICKING, *NORMS, *EXPONENTIALS, "reduce", "group_norm"),
        _ANYWHERE,
        lambda launch: _all(launch).size > _FEW and bool((_all(launch) == _all(launch)[0]).all()),
    ),
    Condition(
        "first-is-the-maximum",
        "A scan for the maximum begins at the second element, or its partial results at place 0.",
        (*PICKING, *EXPONENTIALS, "reduce"),
        _ANYWHERE,
        lambda launch: _peaks_at(launch, 0),
    ),
    Condition(
        "last-is-the-maximum",
        "The maximum lies in the tail, which is compared in another loop (mlx#4292: reduce_many and reduce).",
        (*PICKING, *EXPONENTIALS, "reduce"),
        _ANYWHERE,
        lambda launch: _peaks_at(launch, -1),
    ),
    Condition(
        "nan-comes-first",
        "Every comparison with a NaN that is held is false, so it stays, or is never taken (mlx#4274).",
        (*PICKING, "reduce", "scan"),
        ("dense",),
        lambda launch: (
            line(launch).size > 1 and bool((np.isnan(line(launch)) == (np.arange(line(launch).size) < 1)).all())
        ),
    ),
    Condition(
        "nan-comes-last",
        "A NaN in the tail of a row is lost by a comparison that keeps what it has (PyTorch#7645).",
        (*PICKING, "reduce"),
        ("dense",),
        lambda launch: line(launch).size > 1 and bool(np.isnan(line(launch)).argmax() == line(launch).size - 1),
    ),
    Condition(
        "nan-with-a-sign",
        "Bit patterns are compared as integers, and a NaN with a sign comes out below -inf (tt-metal#56626).",
        (*PICKING, "copy", "permute", "gather"),
        ("dense",),
        lambda launch: bool((np.isnan(_of_signs(launch)) & np.signbit(_of_signs(launch))).any()),
    ),
    Condition(
        "nan-beside-infinity",
        "A maximum that begins at -inf takes an infinity for done, and a later NaN is not looked at.",
        (*PICKING, "reduce", "scan"),
        ("dense",),
        lambda launch: bool(np.isnan(line(launch)).any() and np.isinf(line(launch)).any()),
    ),
    Condition(
        "row-of-minus-infinity",
        "Nothing is larger than the value that the search begins with, and the place is -1 (torch/cutorch#331, torch-xpu-ops#4839).",
        (*PICKING, "reduce", "scan"),
        ("dense",),
        lambda launch: line(launch).size > 1 and bool((line(launch) == -np.inf).all()),
    ),
    Condition(
        "minus-infinity-leads",
        "A running maximum that is still -inf gives -inf - -inf = NaN in an online softmax.",
        (*EXPONENTIALS, "reduce", "cross_entropy"),
        ("dense",),
        lambda launch: line(launch).size > 1 and bool(line(launch)[0] == -np.inf < line(launch).max() < np.inf),
    ),
    Condition(
        "all-below-zero",
        "A maximum begins at 0, or meets the zeros that rows or borders were filled up with (oneDNN#1094).",
        (*PICKING, "reduce", "scan", "pool"),
        _ANYWHERE,
        lambda launch: _all(launch).size > _FEW and bool((_all(launch) < 0).all()),
    ),
    Condition(
        "past-the-range-of-exp",
        "Exponentials are taken before the maximum is subtracted.",
        (*EXPONENTIALS, "cross_entropy", "reduce"),
        _ANYWHERE,
        lambda launch: line(launch).size > 1 and bool(_BEYOND_EXP < line(launch).max() < np.inf),
    ),
    Condition(
        "zeros-of-both-signs",
        "min and max compare numbers, and of two zeros take any; copies through integers or sums lose the sign.",
        ("broadcast_binary", "elementwise_unary", "reduce", "cast", "copy", *PICKING),
        ("dense",),
        lambda launch: is_floating(launch) and len({*np.signbit(_of_signs(launch)[_all(launch) == 0])}) > 1,
    ),
    Condition(
        "subnormals",
        "A kernel compiled with fast mathematics flushes them, in the vector loop alone.",
        ("broadcast_binary", "elementwise_unary", "cast", "scan", "copy"),
        ("dense",),
        _has_subnormals,
    ),
    Condition(
        "integers-at-both-ends",
        "-min and |min| do not exist, differences of the ends overflow, and comparisons by subtraction turn round.",
        ("add_n", "broadcast_binary", *PICKING, "elementwise_unary", "cast", "reduce", "scan", "dequantize"),
        ("dense",),
        _ends,
    ),
    Condition(
        "integers-past-53-bits",
        "64-bit integers pass through a double: their last bit is lost.",
        ("add_n", "broadcast_binary", *PICKING, "cast", "reduce", "scan", "copy"),
        ("dense",),
        lambda launch: _passes(launch, 53, "int64", "uint64"),
    ),
    Condition(
        "integers-past-24-bits",
        "32-bit integers pass through a float: their last bits are lost (tt-metal#17701).",
        ("add_n", "broadcast_binary", *PICKING, "cast", "reduce", "permute"),
        ("dense",),
        lambda launch: _passes(launch, 24, "int32", "uint32"),
    ),
    Condition(
        "maximum-in-both-halves",
        "Of equal elements found by different blocks any wins, and not the first (tt-metal#55069).",
        PICKING,
        _ANYWHERE,
        _ties_afar,
    ),
    Condition(
        "many-ties",
        "A tie buffer of fixed length is full: the places that are left are arbitrary (sglang#37970).",
        PICKING,
        ("dense",),
        lambda launch: (
            source(launch).dtype != "bool" and line(launch).size > _MANY and len({*line(launch)[:_MANY]}) <= _FEW
        ),
    ),
    Condition(
        "rows-rise",
        "Each element replaces the least of the best so far: the longest way through a selection.",
        PICKING,
        ("dense",),
        lambda launch: _steps(launch, 1),
    ),
    Condition(
        "rows-fall",
        "A bitonic network's directions are turned round, which rows already in order show.",
        PICKING,
        ("dense",),
        lambda launch: _steps(launch, -1),
    ),
    Condition(
        "bools-of-other-bytes",
        "A bool whose byte is neither 0 nor 1 is added, compared or masked as a number.",
        ("reduce", "where", "cast", *PICKING),
        ("dense",),
        lambda launch: source(launch).dtype == "bool" and bool((_bytes(launch) > 1).any()),
    ),
)
"""By theme, each with the mistake that it is taken from."""
