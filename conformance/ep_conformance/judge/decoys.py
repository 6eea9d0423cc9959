"""Decoys: wrong results that a case must reject. A case whose data let one pass cannot be trusted."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

import ep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_conformance.judge.compare import Comparison

__all__ = ["LEAST_SIZE", "POISON", "blind_to"]

POISON: Final = 0x5B
"""Fills outputs before a launch: as any element type a large number, never a NaN, and no legal bool."""

LEAST_SIZE: Final = 10
"""Smaller outputs prove little by design (rank 0, one element); only an unwritten output is tried on them."""

_MOST_SIZE: Final = 1 << 20
_FEW_BITS: Final = 3
"""Fraction bits of the types in which a change of 2 % may be rounded away."""

Array = npt.NDArray[Any]


def blind_to(
    expected: Array,
    inputs: Mapping[str, Any],
    measure: Callable[[Array], Comparison],
    others: Mapping[str, Array] = MappingProxyType({}),
) -> str:
    """Return the wrong result that the comparison would accept, in words; "" if there is none.

    expected : the right result
    inputs   : by operand; if none has more than one element, constant outputs are legal and not tried
    others   : the right results of the other outputs, by name

    Tried: an output never written; all zeros; the elements moved by one place; every element a little too large; another
    output of its shape and type in its place.
    """
    if not expected.size or expected.size > _MOST_SIZE:
        return ""
    decoys = [*_decoys(expected, has_tensors=any(np.size(value) > 1 for value in inputs.values()))]
    if expected.size >= LEAST_SIZE:
        like = (expected.shape, expected.dtype)
        decoys += [
            (f"{name} in its place", other) for name, other in others.items() if (other.shape, other.dtype) == like
        ]
    for what, decoy in decoys:
        if measure(decoy).passes:
            return what
    return ""


def _decoys(result: Array, *, has_tensors: bool) -> Iterator[tuple[str, Array]]:
    if result.dtype != np.bool_:  # of a bool, the byte itself gives an unwritten output away
        unwritten = np.full(result.nbytes, POISON, np.uint8).view(result.dtype).reshape(result.shape)
        yield "an output that was never written", unwritten
    if result.size < LEAST_SIZE or not has_tensors:
        return
    yield "an output of zeros", np.zeros_like(result)
    yield "an output moved by one element", np.roll(result.reshape(-1), 1).reshape(result.shape)
    row = ep.dtype(result.dtype.name)
    with np.errstate(all="ignore"):
        if row.kind in "fc" and (np.isfinite(result) & (result != 0)).any():
            # 2 %, or what the type can tell apart.
            factor = 1.02 if row.fraction > _FEW_BITS else 1.5
            yield "an output a little too large", (result * result.dtype.type(factor)).astype(result.dtype)
