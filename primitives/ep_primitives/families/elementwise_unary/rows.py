"""The unary ops in the order of ops.csv; `cast` is a family of its own."""

from __future__ import annotations

from typing import Final

from ep_primitives.elementwise.ops.activation import ACTIVATION
from ep_primitives.elementwise.ops.math import MATH
from ep_primitives.elementwise.ops.parts import PARTS
from ep_primitives.elementwise.ops.test import IDENTITY, TEST

__all__ = ["UNARY_OPS"]

_ROWS: Final = (IDENTITY, *ACTIVATION, *MATH, *TEST, *PARTS)

UNARY_OPS: Final = {row.name: row for row in _ROWS}
"""The rows by name."""
