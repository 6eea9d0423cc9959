"""The reference of Scan, in a wider type than the result, and S, the sum of all |terms| so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_primitives.families.scan.rows import SCAN_OPS
from ep_primitives.judging.reference import LONG_EPS, Array, Reference, widened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_primitives.families.scan.descriptor import Scan

__all__ = ["reference"]

_LONG: Final[Mapping[str, Any]] = {"float64": np.longdouble, "complex128": np.clongdouble}
_BLOCK: Final = 64


def reference(descriptor: Scan, inputs: Mapping[str, Any]) -> Reference:
    """Return the op over all prefixes of each row of x as stored: in float64 up to float32, in the long double for float64."""
    dtype, axis = descriptor.x.dtype, descriptor.axis
    x = widened(dtype, inputs["x"])
    rows = np.moveaxis(x, axis, -1) if x.ndim else x.reshape(1)
    rows = rows[..., ::-1] if descriptor.reverse else rows
    rows = rows.astype(_LONG.get(dtype, rows.dtype))
    with np.errstate(all="ignore"):
        value, size = _scanned(descriptor.op, rows)
    if descriptor.exclusive:
        value, size = _later(value, SCAN_OPS[descriptor.op].identity_of(dtype)), _later(size, 0)
    found = [_laid(descriptor, each) for each in (value, size)]
    if ep.dtype(dtype).kind not in "fc":
        return Reference(found[0])
    if dtype not in _LONG:
        return Reference(found[0], found[1])
    narrow = np.complex128 if np.iscomplexobj(value) else np.float64
    # Blocks and the sums before them: so many roundings of the long double at most.
    roundings = _BLOCK + rows.shape[-1] / _BLOCK
    return Reference(found[0].astype(narrow), (found[1] * (1 + roundings * LONG_EPS)).astype(np.float64), 0.5)


def _scanned(op: str, rows: Array) -> tuple[Array, Array]:
    """Return the value and S of each prefix."""
    match op:
        case "sum":
            return _sums(rows), _sums(np.abs(rows)) if rows.dtype.kind in "fc" else rows
        case "prod":
            value = np.cumprod(rows, -1, dtype=rows.dtype)
            return value, np.abs(value)
    value = (np.maximum if op == "max" else np.minimum).accumulate(rows, -1)
    if rows.dtype.kind != "f":
        return value, value
    wins = (rows == 0) & (np.signbit(rows) == (op == "min"))
    zero = np.where(np.logical_or.accumulate(wins, -1) == (op == "max"), 0.0, -0.0)
    return np.where(value == 0, zero, value), np.abs(value)


def _sums(rows: Array) -> Array:
    """Return the sums of all prefixes: those within blocks, added to the sums of the blocks before."""
    extent = rows.shape[-1]
    if rows.dtype.kind not in "fc":
        return np.cumsum(rows, -1, dtype=rows.dtype)
    blocks = np.zeros((*rows.shape[:-1], -(-extent // _BLOCK) * _BLOCK), rows.dtype)
    blocks[..., :extent] = rows
    within = np.cumsum(blocks.reshape(*rows.shape[:-1], blocks.shape[-1] // _BLOCK, _BLOCK), -1)
    before = _later(np.cumsum(within[..., -1], -1), 0)
    return np.asarray((within + before[..., None]).reshape(blocks.shape)[..., :extent])


def _later(rows: Array, first: Any) -> Array:
    """Return each row moved on by one, after a first element."""
    moved = np.empty_like(rows)
    moved[..., :1], moved[..., 1:] = first, rows[..., :-1]
    return moved


def _laid(descriptor: Scan, rows: Array) -> Array:
    """Return rows as the output has them."""
    rows = rows[..., ::-1] if descriptor.reverse else rows
    shape = descriptor.out.shape
    return np.ascontiguousarray(np.moveaxis(rows, -1, descriptor.axis)) if shape else rows.reshape(())
