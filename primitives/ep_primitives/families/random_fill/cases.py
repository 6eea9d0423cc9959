"""The cases of RandomFill that are about values: places in a sequence, known answers, edges of the distributions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep import TensorSpec
from ep_primitives.cases.case import Case
from ep_primitives.families.random_fill.descriptor import RandomFill
from ep_primitives.families.random_fill.philox import draw
from ep_primitives.families.random_fill.rows import words_each
from ep_primitives.judging.reference import Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_primitives.judging.reference import Array

__all__ = ["cases", "launch_numbers", "state_of"]

State = tuple[int, int]

_SIZE: Final = 257
_FEW: Final = 9
"""So few elements may be all alike."""

_PLACES: Final[dict[str, State]] = {
    "at-word-1": (1, 1),
    "at-word-2": (2**32, 2),
    "at-word-3": (2**63 + 5, 3),
    "beyond-2-34": (2**64 - 1, 2**34 - 7),
    "wraps": (12345, 2**64 - 101),
}
_ANSWERS: Final[dict[str, tuple[State, tuple[int, ...]]]] = {
    "random123": ((0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    "std-philox4x32": ((20111115, 9999), (1955073260,)),
}
"""Known answers: from kat_vectors of Random123, and from [rand.predef] of C++26."""
_EXTREMES: Final = {
    1: {"lowest-word": 364375560, "highest-word": 684001936, "middle-word": 3036154571},
    2: {"lowest-word": 3998244834, "highest-word": 2910010688, "middle-word": 3036154570},
}
"""By words an element: where the first 2^32 words of seed 1 are nearest to 0, to the largest and to half of it. These are 0,
0xfffffffe and 0x7fffffff; 0x27ed0b8ce, 0xfffffffe80ba1527 and 0x7ffffffff3c21a98."""
_BEFORE: Final = 100


def cases(op: str, dtype: str) -> Iterator[Case]:
    """Yield the value cases of a row for an element type."""
    for name, state in _PLACES.items():
        yield _case(name, op, dtype, state)
    if op in _ROW_CASES:
        yield from _ROW_CASES[op](dtype)


def state_of(seed: int, offset: int) -> Array:
    """Return a state as it lies in memory; both are taken modulo 2^64."""
    return np.array([seed % 2**64, offset % 2**64], np.uint64)


def launch_numbers(op: str, dtype: str, rng: np.random.Generator) -> dict[str, Any]:
    """Return random numbers for a launch, such that the output is not constant."""
    if op == "bernoulli":
        return {"p": float(rng.uniform(0.2, 0.8))}
    if op == "integers":
        low, high = ep.dtype(dtype).range
        less, more = (int(share) for share in rng.integers(0, (high - low) // 4, 2, dtype=np.uint64))
        return {"low": low + less, "high": high - more}
    return {}


def _case(name: str, op: str, dtype: str, state: State, size: int = _SIZE, **numbers: Any) -> Case:
    """Return a dense case at a place of a sequence."""

    def data(rng: np.random.Generator) -> dict[str, Any]:
        return {"state": state_of(*state), **(numbers or launch_numbers(op, dtype, rng))}

    return Case(name, RandomFill(op, out=TensorSpec(dtype, (size,))), data, fill="designed")


def _words(dtype: str) -> Iterator[Case]:
    """Yield the known answers that a state can ask for: the others have counters that no word number reaches."""
    for name, (state, words) in _ANSWERS.items():
        case = _case(f"known-answer-{name}", "words", dtype, state, len(words))
        yield replace(case, expected=partial(Reference, np.array(words, np.uint32)), fill="exact")


def _extremes(op: str, dtype: str) -> Iterator[Case]:
    """Yield places with words at or near the ends and the middle of their range."""
    for name, word in _EXTREMES[words_each(dtype)].items():
        yield _case(name, op, dtype, (1, word - _BEFORE))


def _bernoulli(dtype: str) -> Iterator[Case]:
    """Yield probabilities at and next to a word, where one step decides, and both ends."""
    state = (7, 40)
    middle = int(np.sort(draw(*state, _SIZE))[_SIZE // 2])
    for name, steps in (("at-a-word", 0.0), ("half-above-a-word", 0.5), ("above-a-word", 1.0)):
        yield _case(f"p-{name}", "bernoulli", dtype, state, p=(middle + steps) * 2.0**-32)
    for name, p in (("zero", 0.0), ("one", 1.0)):
        yield _case(f"p-{name}", "bernoulli", dtype, state, _FEW, p=p)


def _integers(dtype: str) -> Iterator[Case]:
    """Yield ranges at both ends of the type, the whole of it and single values."""
    low, high = ep.dtype(dtype).range
    state = (20, 5)
    ranges = {
        "whole": (low, high),
        "all-but-one": (low, high - 1),
        "dice": (1, 6),
        "upper-half": (low + (high - low) // 2 + 1, high),
        "three-quarters": (low, low + 3 * ((high - low) // 4)),
    }
    for name, (least, most) in ranges.items():
        yield _case(name, "integers", dtype, state, low=least, high=most)
    for name, value in (("least", low), ("most", high), ("seven", 7)):
        yield _case(f"only-{name}", "integers", dtype, state, _FEW, low=value, high=value)


_ROW_CASES: Final[Mapping[str, Callable[[str], Iterator[Case]]]] = {
    "words": _words,
    "uniform": partial(_extremes, "uniform"),
    "normal": partial(_extremes, "normal"),
    "bernoulli": _bernoulli,
    "integers": _integers,
}
