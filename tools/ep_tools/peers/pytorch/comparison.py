"""What the rows' references and PyTorch say to the same inputs, and in which ways they differ."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from ep_primitives import BINARY_OPS, UNARY_OPS, Conditioned, Ulps
from ep_primitives.cases import data
from ep_primitives.elementwise import pairing
from ep_primitives.judging.reference import array_dtype

import ep
from ep_tools.peers.pytorch.expressions import EXPRESSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_primitives.elementwise.domain import Domain
    from ep_primitives.elementwise.op import Op
    from ep_primitives.judging.reference import Array

__all__ = ["FATAL", "ROWS", "TYPES", "Finding", "differing", "findings"]

ROWS: Final[dict[str, Op]] = {**UNARY_OPS, **BINARY_OPS}
TYPES: Final = {
    "float": ("float32", "float64"),
    "complex": ("complex64",),
    "integer": ("int32", "uint8"),
    "bool": ("bool",),
}
"""The element types that are compared, by the kind that disagreements are told apart by."""

FATAL: Final = ("div", "trunc_div")
"""Where the quotient of the smallest integer and -1 ends the process in PyTorch, on processors whose division traps."""

_ULPS: Final = 64
"""What PyTorch may be off; it promises nothing. More is a disagreement."""
_RANDOM: Final = 4096
_FAR: Final = 1100
_LANES: Final = 64
_SIZES: Final = (1.0, -1.0, 2.0**-10, -100.0, 0.1)
_NEARLY: Final = 0.999
_MINIMUM: Final = np.iinfo(np.int32).min


@dataclass(frozen=True)
class Finding:
    """An element that the two disagree on.

    how : "NaN here", "NaN there", "infinity", "sign of zero", "value" or "error"; here is EP, there PyTorch
    """

    op: str
    kind: str
    how: str
    dtype: str
    inputs: tuple[Any, ...]
    attributes: tuple[float, ...]
    here: Any
    there: Any
    count: int

    def __str__(self) -> str:
        given = ", ".join(map(repr, (*self.inputs, *self.attributes)))
        return f"{self.op} {self.dtype} ({given}): {self.how}: here {self.here!r}, there {self.there!r}; {self.count} elements"


def findings(op: str, kind: str) -> dict[str, Finding]:
    """Return the disagreements about one op and kind of element types, one example each, by what differs."""
    row = ROWS[op]
    found: dict[str, Finding] = {}
    for dtype in TYPES[kind]:
        if dtype not in row.dtypes:
            continue
        for attributes in _attributes(row):
            columns = _columns(row, dtype, attributes)
            for finding in _compared(row, kind, dtype, columns, attributes):
                found.setdefault(finding.how, finding)
    return found


def _attributes(row: Op) -> Iterator[tuple[float, ...]]:
    for number in range(max((len(attribute.samples) for attribute in row.attributes), default=1)):
        yield tuple(attribute.samples[number] for attribute in row.attributes)


def _columns(row: Op, dtype: str, attributes: tuple[float, ...]) -> list[Array]:
    """Return the special, designed, random and swept inputs of a row, a column an operand."""
    domains = row.domain_of(dtype)
    rng = np.random.default_rng(zlib.crc32(f"{row.name} {dtype}".encode()))
    grid = np.meshgrid(*(data.designed(dtype, domain) for domain in domains), indexing="ij")
    drawn = [data.random(rng, dtype, (_RANDOM,), domain) for domain in domains]
    if len(domains) > 1 and domains[0] == domains[1]:
        drawn[1] = pairing.partner(rng, *drawn)
    columns = [np.concatenate([axis.reshape(-1), column]) for axis, column in zip(grid, drawn, strict=True)]
    if row.special and ep.dtype(dtype).kind == row.special_kind:
        held = tuple(map(float, row.held(dtype, attributes)))
        special = np.array([inputs for inputs, _ in row.special_rows(held)]).T.astype(array_dtype(dtype))
        columns = [np.concatenate([left, right]) for left, right in zip(special, columns, strict=True)]
    if row.name in FATAL and dtype == "int32":
        is_fatal = (columns[0] == _MINIMUM) & (columns[1] == -1)
        columns = [column[~is_fatal] for column in columns]
    if ep.dtype(dtype).kind == "f":
        columns = [np.concatenate(pair) for pair in zip(columns, _swept(dtype, domains), strict=True)]
    return columns


def _swept(dtype: str, domains: tuple[Domain, ...]) -> list[Array]:
    """Return last operands of every magnitude and evenly spread, first ones of a few sizes: what chance seldom meets.

    The end is too short for any vector, so scalar code does it.
    """
    info = np.finfo(dtype)
    exponents = np.arange(info.minexp - info.nmant, info.maxexp)
    sizes = np.ldexp(np.array([[1.0], [1.2345], [1.75]]), exponents).reshape(-1)
    numbers = np.concatenate([sizes, -sizes, np.linspace(-_FAR, _FAR, 8 * _FAR + 1), np.full(2 * _LANES - 1, -1 / 8)])
    last = numbers.astype(dtype)
    if not domains[-1].is_open:
        last = last[domains[-1].contains(dtype, last)]
    if len(domains) == 1:
        return [last]
    return [np.tile(np.array(_SIZES, dtype), last.size), np.repeat(last, len(_SIZES))]


def _compared(row: Op, kind: str, dtype: str, columns: list[Array], attributes: tuple[float, ...]) -> Iterator[Finding]:
    held = row.held(dtype, attributes)
    numbers = tuple(map(float, held))
    try:
        there = _pytorch(row, columns, numbers)
    except RuntimeError as error:
        yield Finding(
            row.name, kind, "error", dtype, (), numbers, "a result", str(error).splitlines()[0], columns[0].size
        )
        is_allowed = columns[-1] != 0
        columns = [column[is_allowed] for column in columns]
        there = _pytorch(row, columns, numbers)
    with np.errstate(all="ignore"):
        result = row.reference(*(row.taken(dtype, column) for column in columns), *held)
        value, scale = result if isinstance(result, tuple) else (result, None)
        here = np.broadcast_to(value, there.shape).astype(there.dtype)
        places_of = differing(here, there, _bound(row, dtype, here, scale))
    for how, places in places_of.items():
        if places.any():
            place = int(places.argmax())
            inputs = tuple(column[place].item() for column in columns)
            yield Finding(
                row.name, kind, how, dtype, inputs, numbers, here[place].item(), there[place].item(), int(places.sum())
            )


def _pytorch(row: Op, columns: list[Array], attributes: tuple[float, ...]) -> Array:
    tensors = [torch.from_numpy(np.array(column)) for column in columns]
    result: Array = EXPRESSIONS[row.name](*tensors, *attributes).detach().numpy()
    return result


def differing(here: Array, there: Array, bound: Array | float = 0.0) -> dict[str, Array]:
    """Return where two arrays of one type differ, by what differs; values may be off by `bound`."""
    if here.dtype.kind not in "fc":
        return {"value": here != there}
    nan = np.isnan(here), np.isnan(there)
    is_both = ~nan[0] & ~nan[1]
    infinite = np.isinf(here), np.isinf(there)
    is_end = np.minimum(np.abs(here), np.abs(there)) > _NEARLY * np.finfo(here.dtype).max
    is_infinity = is_both & (infinite[0] | infinite[1]) & (here != there) & ~is_end
    if here.dtype.kind == "c":
        # Of which part an infinity stands in, neither side promises anything.
        is_infinity &= infinite[0] != infinite[1]
    is_finite = is_both & ~infinite[0] & ~infinite[1]
    with np.errstate(all="ignore"):
        error = np.where(is_finite, np.abs(here - there), 0)
    is_zero = is_finite & (here == 0) & (there == 0)
    signs = np.signbit(here.real) != np.signbit(there.real) if here.dtype.kind == "f" else np.zeros(here.shape, bool)
    return {
        "NaN here": nan[0] & ~nan[1],
        "NaN there": nan[1] & ~nan[0],
        "infinity": is_infinity,
        "sign of zero": is_zero & signs,
        "value": is_finite & (error > bound),
    }


def _bound(row: Op, dtype: str, here: Array, scale: Array | None) -> Array:
    if here.dtype.kind not in "fc":
        return np.zeros(here.shape)
    accuracy = row.accuracy_of(dtype)
    least: Array | float = 0.0
    if isinstance(accuracy, Ulps):
        least = accuracy.floor
    elif isinstance(accuracy, Conditioned) and scale is not None:
        least = _ULPS * np.finfo(here.dtype).eps * scale
    return np.asarray(np.maximum(_ULPS * np.spacing(np.where(np.isfinite(here), np.abs(here), 1)), least))
