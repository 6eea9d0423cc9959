"""A short description of memories that were never closed, however many they are."""

from __future__ import annotations

import collections
import os
import warnings
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep.memory.memory import Block

__all__ = ["describe", "warn"]

_MOST_SIZES: Final = 5
_VARIABLES: Final = ("EP_LEAKS", "EP_VALIDATE")


def describe(blocks: Sequence[Block]) -> str:
    """Return how many memories of which sizes and kinds there are, the largest sums first; "" if there are none."""
    counts = collections.Counter((block.nbytes, block.kind.value) for block in blocks)
    most = sorted(counts, key=lambda each: (-each[0] * counts[each], each))
    parts = [f"{_plural(counts[each])} of {each[0]} bytes ({each[1]})" for each in most[:_MOST_SIZES]]
    rest = sum(counts[each] for each in most[_MOST_SIZES:])
    return ", ".join([*parts, f"{_plural(rest)} of {len(most) - _MOST_SIZES} other sizes"] if rest else parts)


def warn(device: str, blocks: Sequence[Block]) -> None:
    """Warn at the end of the process of memories that are still open, if EP_LEAKS=1 or EP_VALIDATE=1 asks for it."""
    if blocks and any(os.environ.get(name) == "1" for name in _VARIABLES):
        nbytes = sum(block.nbytes for block in blocks)
        message = f"{device}: never closed: {describe(blocks)}; {nbytes} bytes in all"
        warnings.warn(message, RuntimeWarning, stacklevel=2)


def _plural(count: int) -> str:
    return f"{count} memories" if count > 1 else "1 memory"
