"""Compare results bit for bit: the payload of a NaN, the sign of a zero and the byte of a bool count."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ep_conformance.judge.error import CaseError

__all__ = ["check_bits"]

Array = npt.NDArray[Any]


def check_bits(name: str, given: Array, needed: Array, why: str, kind: str = "element") -> None:
    """Fail the case at the first element whose bits differ.

    name : of the operand
    why  : the origin of the needed bits, in words
    kind : the name of such a failure in a replay file
    """
    have, want = _bits(given), _bits(needed)
    wrong = np.argwhere((have != want).any(axis=-1))
    if not wrong.size:
        return
    at = tuple(int(i) for i in wrong[0])
    message = (
        f"{name}{list(at)} is {given[at]!s} with the bits {_text(have[at])}, needed {needed[at]!s} with the bits "
        f"{_text(want[at])}, {why} ({wrong.shape[0]} of {given.size} elements)"
    )
    bits = want[at].tobytes().hex()  # of a bool, whose byte a scalar forgets
    raise CaseError(
        message, kind=kind, operand=name, index=list(at), given=str(given[at]), needed=str(needed[at]), bits=bits
    )


def _bits(array: Array) -> Array:
    """Return the words of each element along a dimension of their own."""
    word = min(array.itemsize, 8)
    return np.ascontiguousarray(array).reshape(-1).view(f"u{word}").reshape(*array.shape, array.itemsize // word)


def _text(words: Array) -> str:
    return " ".join(f"{int(word):#x}" for word in words)
