"""Determinism: equal launches give equal bits, and a result is a function of its own inputs, whatever is computed beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ep_conformance.judge.bits import check_bits

if TYPE_CHECKING:
    import ep
    from ep_conformance.judge.operand import Image, Operand

__all__ = ["check_again", "check_part", "is_promised", "with_nan_of"]

Array = npt.NDArray[Any]


def is_promised(device: ep.Device) -> bool:
    """Say whether the device promises equal bits: DeviceInfo.determinism."""
    return device.info.determinism == "bitwise"


def check_again(operand: Operand, first: Image, again: Image) -> None:
    """Fail the case unless two launches on equal operands wrote the same bits, those of a NaN included.

    first, again : what the operand's allocation held after each
    """
    why = "as an equal launch before gave; DeviceInfo.determinism is bitwise"
    check_bits(operand.name, operand.tensor(again), operand.tensor(first), why, "again")


def check_part(part: ep.Descriptor, out: Operand, whole: Image, alone: Image) -> None:
    """Fail the case unless a launch of a part of the work wrote the bits of the whole there, and nothing else.

    whole, alone : what an output's allocation held after the launch of everything, and of the part

    The sign and the payload of a NaN may differ: processors keep those of either operand, and compilers swap operands.
    """
    window = replace(out, spec=part.outputs[out.name])
    window.check(alone, is_written=True)
    given, needed = window.tensor(alone), window.tensor(whole)
    why = f"as it gave among others; computed by itself: {part!r}"
    check_bits(out.name, with_nan_of(given, needed), needed, why, "part")


def with_nan_of(given: Array, needed: Array) -> Array:
    """Return `given` with the NaN of `needed` where both have one, in either part of a complex number."""
    if given.dtype.kind == "c":
        for mine, other in ((given.real, needed.real), (given.imag, needed.imag)):
            mine[...] = with_nan_of(mine, other)
        return given
    if given.dtype.kind in "biu":
        return given
    return np.asarray(np.where(np.isnan(given) & np.isnan(needed), needed, given))
