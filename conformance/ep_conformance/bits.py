"""Compare results bit for bit: the payload of a NaN, the sign of a zero and the byte of a bool count."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ep_conformance.trial import CaseError

__all__ = ["check_bits"]

Array = npt.NDArray[Any]


def check_bits(what: str, given: Array, needed: Array, why: str) -> None:
    """Fail the case at the first element whose bits differ.

    what : names the array, `out` for `out[3]`
    why  : says where the needed bits come from
    """
    have, want = _bits(given), _bits(needed)
    wrong = np.argwhere((have != want).any(axis=-1))
    if not wrong.size:
        return
    at = tuple(int(i) for i in wrong[0])
    message = (
        f"{what}{list(at)} is {given[at]} with the bits {_text(have[at])}, needed {needed[at]} with the bits "
        f"{_text(want[at])}, {why} ({wrong.shape[0]} of {given.size} elements)"
    )
    raise CaseError(message)


def _bits(array: Array) -> Array:
    """Return the words of each element along a dimension of their own."""
    word = min(array.itemsize, 8)
    return np.ascontiguousarray(array).reshape(-1).view(f"u{word}").reshape(*array.shape, array.itemsize // word)


def _text(words: Array) -> str:
    return " ".join(f"{int(word):#x}" for word in words)
