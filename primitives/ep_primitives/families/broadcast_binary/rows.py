"""The binary ops in the order of ops.csv."""

from __future__ import annotations

from typing import Final

from ep_primitives.elementwise.ops.activation_backward import ACTIVATION_BACKWARD
from ep_primitives.elementwise.ops.arithmetic import ARITHMETIC
from ep_primitives.elementwise.ops.comparison import COMPARISON
from ep_primitives.elementwise.ops.math_backward import MATH_BACKWARD
from ep_primitives.elementwise.ops.two_numbers import TWO_NUMBERS

__all__ = ["BINARY_OPS"]

_ROWS: Final = (*ARITHMETIC, *TWO_NUMBERS, *COMPARISON, *ACTIVATION_BACKWARD, *MATH_BACKWARD)

BINARY_OPS: Final = {row.name: row for row in _ROWS}
"""The rows by name."""
