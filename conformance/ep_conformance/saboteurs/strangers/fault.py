"""What a stranger makes of a right result; each is a mistake that kernels of others had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from ep_primitives.judging.reference import array_dtype

import ep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_conformance.saboteurs.kernel import Array

__all__ = ["FAULTS"]

_LANES: Final = 4
_VECTOR: Final = 8
_WARP: Final = 32
_NARROW: Final = {"float64": "float32", "float32": "bfloat16", "complex128": "complex64"}


def _put(out: Array, flat: Array) -> None:
    """Write elements in row-major order, wherever out lies."""
    out[...] = flat.reshape(out.shape)


def _transposed(out: Array, before: Array) -> None:
    """Write the elements in column-major order (dpnp#1871)."""
    del before
    _put(out, out.T.flatten())


def _laned(out: Array, before: Array) -> None:
    """Give all lanes of a vector the element of its first lane (NuMojo#382)."""
    del before
    flat = out.flatten()
    _put(out, flat[np.arange(flat.size) // _LANES * _LANES])


def _added(out: Array, before: Array) -> None:
    """Add the result to what memory held (rten#81: beta is not zero in partial tiles)."""
    with np.errstate(all="ignore"):
        out[...] = out + before


def _wrapped(out: Array, before: Array) -> None:
    """Write the first row into the last one, as where an index is taken modulo a size."""
    del before
    flat = out.flatten()
    width = out.shape[-1] if out.ndim > 1 else 1
    flat[flat.size - width :] = flat[:width].copy()
    _put(out, flat)


def _holed(out: Array, before: Array) -> None:
    """Leave the last element of each warp, and of all, as it was."""
    flat, held = out.flatten(), before.flatten()
    flat[_WARP - 1 :: _WARP] = held[_WARP - 1 :: _WARP]
    flat[-1:] = held[-1:]
    _put(out, flat)


def _turned(out: Array, before: Array) -> None:
    """Reverse the lanes of the last vector."""
    del before
    flat = out.flatten()
    flat[-_VECTOR:] = flat[-_VECTOR:][::-1].copy()
    _put(out, flat)


def _twice(out: Array, before: Array) -> None:
    """Count the last vector twice, as where a tail is done by a whole vector once more (dotnet/runtime#92820)."""
    del before
    flat = out.flatten()
    with np.errstate(all="ignore"):
        flat[-_VECTOR:] = flat[-_VECTOR:] + flat[-_VECTOR:]
    _put(out, flat)


def _narrowed(out: Array, before: Array) -> None:
    """Compute in the next narrower type; integers in float32."""
    del before
    name = out.dtype.name
    if ep.dtype(name).kind in "iu":
        with np.errstate(all="ignore"):
            held = out.astype(np.float32).astype(np.float64)
            low, high = ep.dtype(name).range
            out[...] = np.where((held > low) & (held < high), held, 0).astype(out.dtype)
    elif name in _NARROW:
        with np.errstate(all="ignore"):
            out[...] = out.astype(array_dtype(_NARROW[name])).astype(out.dtype)


FAULTS: Final[Mapping[str, Callable[[Array, Array], None]]] = {
    "transposed": _transposed,
    "laned": _laned,
    "added": _added,
    "wrapped": _wrapped,
    "holed": _holed,
    "turned": _turned,
    "twice": _twice,
    "narrowed": _narrowed,
}
"""By name: functions of the right result, which they spoil, and of what the output's memory held before."""
