"""Rows with exactly known softmaxes: not finite, far apart, all equal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ep_primitives.judging.reference import Array, array_dtype, limits

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["special_inputs"]

# Eight elements each; "max" and "min" are the ends of the element type, "far" is too far below 0 for its e^x.
_BOTH: Final = """
nan 0 1 2 3 4 5 6
0 1 2 3 4 5 6 nan
nan nan nan nan nan nan nan nan
nan inf -inf 0 1 2 3 4
inf 0 1 2 3 4 5 6
0 1 2 3 4 5 max inf
inf -inf inf -inf inf -inf inf -inf
inf inf inf inf inf inf inf inf
-inf -inf -inf -inf -inf -inf -inf -inf
-inf -inf -inf 2.5 -inf -inf -inf -inf
min -inf -inf -inf -inf -inf -inf -inf
-inf -inf -inf -inf -inf -inf -inf max
max min min min min min min min
min min min min min min min 0
far far far 0 far far far far
-inf far far 0 far -inf far min
"""

_EQUAL: Final = """
0 0 0 0 0 0 0 0
0 -0 0 -0 -0 0 0 -0
max max max max max max max max
min min min min min min min min
-inf 1.5 -inf 1.5 -inf -inf -inf -inf
max -inf min -inf max -inf max max
3 far 3 far 3 -inf 3 min
"""

# dy and y in turn; "one" is y of a row with one share: 1, or its logarithm.
_PAIRS: Final = """
nan 0 1 2 3 4 5 6 | some some some some some some some some
0 1 2 3 4 5 6 nan | some some some some some some some some
inf 0 1 2 3 4 5 6 | some some some some some some some some
0 1 2 3 4 5 6 -inf | some some some some some some some some
inf -inf 0 0 0 0 0 0 | some some some some some some some some
0 1 2 inf 4 5 6 7 | some some some some none some some some
0 1 2 3 4 5 6 7 | some some nan some some some some some
0 1 2 3 4 5 6 7 | none none none one none none none none
0 0 0 0 0 0 0 0 | some some some some some some some some
5 -4 3 2 1 2 4 3 | none none none none none none none none
"""


def special_inputs(family: str, dtype: str) -> dict[str, Array]:
    """Return the operands of a family's case of special values: as many rows as it has, along the last axis."""
    info = limits(dtype)
    words = {
        "max": float(info.max),
        "min": float(info.min),
        "far": -8192.0,
        "some": -2.0 if family.startswith("log") else 0.125,
        "one": 0.0 if family.startswith("log") else 1.0,
        "none": float("-inf") if family.startswith("log") else 0.0,
    }
    if not family.endswith("backward"):
        return {"x": _rows(_BOTH if family.startswith("log") else _BOTH + _EQUAL, words, dtype)}
    pairs = [line.split("|") for line in _PAIRS.strip().splitlines()]
    dy, y = ("\n".join(pair[side] for pair in pairs) for side in (0, 1))
    return {"dy": _rows(dy, words, dtype), "y": _rows(y, words, dtype)}


def _rows(text: str, words: Mapping[str, float], dtype: str) -> Array:
    lines = [line.split() for line in text.split("\n") if line.strip()]
    values = [[words[word] if word in words else float(word) for word in line] for line in lines]
    return np.array(values).astype(array_dtype(dtype))
