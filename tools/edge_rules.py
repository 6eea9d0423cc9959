"""Every edge rule and the cases that prove it: what family_documents writes into one table, and a test holds to the suite."""

from __future__ import annotations

from typing import Final

from edge_rule import EdgeRule
from edge_shapes import SHAPES
from edge_values import VALUES

__all__ = ["EDGE_RULES", "EdgeRule"]

EDGE_RULES: Final = (*SHAPES, *VALUES)
