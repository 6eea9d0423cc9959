"""The family ElementwiseUnary."""

from __future__ import annotations

from ep_primitives.families.elementwise_unary.descriptor import ElementwiseUnary
from ep_primitives.families.elementwise_unary.rows import UNARY_OPS

__all__ = ["UNARY_OPS", "ElementwiseUnary"]
