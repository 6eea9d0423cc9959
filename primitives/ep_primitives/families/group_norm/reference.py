"""The reference of GroupNorm: LayerNorm's, with groups as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ep_primitives.families.layer_norm.reference import normalised
from ep_primitives.judging.reference import LONG_EPS, Reference, widened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_primitives.families.group_norm.descriptor import GroupNorm

__all__ = ["reference"]


def reference(descriptor: GroupNorm, inputs: Mapping[str, Any]) -> Reference:
    """Return y of the operands as stored, with S: computed in float64, for float64 in long double."""
    x, dtype, groups = descriptor.x, descriptor.x.dtype, descriptor.groups
    if not x.size:
        return Reference(np.zeros(x.shape), np.zeros(x.shape))
    is_long = dtype == "float64"
    wide = np.longdouble if is_long else np.float64
    given = {name: widened(dtype, value).astype(wide) for name, value in inputs.items()}
    samples, channels = x.shape[:2]
    shape = (samples * groups, x.size // (samples * groups))
    column = (1, channels) + (1,) * (x.ndim - 2)
    columns = {
        name: np.broadcast_to(given.get(name, np.full(channels, usual, wide)).reshape(column), x.shape).reshape(shape)
        for name, usual in (("scale", 1), ("bias", 0))
    }
    with np.errstate(all="ignore"):
        found = normalised(dtype, given["x"].reshape(shape), **columns, epsilon=descriptor.epsilon)
        value, size = (each.astype(np.float64).reshape(x.shape) for each in found["y"])
    return Reference(value, size * (1 + LONG_EPS), 0.5) if is_long else Reference(value, size)
