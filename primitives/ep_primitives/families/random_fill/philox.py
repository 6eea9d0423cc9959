"""Philox-4x32-10 in NumPy: the words that random fills are made of, written from the definition alone.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011; constants and known answers from
their library Random123 (philox.h, kat_vectors).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["Words", "block", "draw"]

Words = npt.NDArray[np.uint32]

_ROUNDS: Final = 10
_MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
_WEYL: Final = (0x9E3779B9, 0xBB67AE85)
_WORD: Final = 0xFFFFFFFF


def block(counter: npt.NDArray[np.uint64], key: tuple[int, int]) -> Words:
    """Return the four words of each counter.

    counter : shape (4, n), words of 32 bits
    key     : two words of 32 bits
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    half = np.uint64(32)
    for _ in range(_ROUNDS):
        first, second = c0 * np.uint64(_MULTIPLIERS[0]), c2 * np.uint64(_MULTIPLIERS[1])
        c0, c1, c2, c3 = (
            (second >> half) ^ c1 ^ np.uint64(k0),
            second & np.uint64(_WORD),
            (first >> half) ^ c3 ^ np.uint64(k1),
            first & np.uint64(_WORD),
        )
        k0, k1 = (k0 + _WEYL[0]) & _WORD, (k1 + _WEYL[1]) & _WORD
    return np.stack([c0, c1, c2, c3]).astype(np.uint32)


def draw(seed: int, first: int, count: int) -> Words:
    """Return `count` words of the sequence of a seed from number `first` on; both are taken modulo 2^64.

    Word n is word n mod 4 of the block whose counter is n div 4 (64 bits in its two low words, zeros above) and whose key
    is the seed, low half first. After word 2^64 - 1 comes word 0.
    """
    numbers = np.uint64(first % 2**64) + np.arange(count, dtype=np.uint64)
    blocks, places = np.unique(numbers >> np.uint64(2), return_inverse=True)
    zeros = np.zeros_like(blocks)
    counter = np.stack([blocks & np.uint64(_WORD), blocks >> np.uint64(32), zeros, zeros])
    words = block(counter, (seed & _WORD, seed >> 32 & _WORD))
    chosen: Words = words[(numbers & np.uint64(3)).astype(np.intp), places]
    return chosen
