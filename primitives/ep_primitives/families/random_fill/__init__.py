"""The family RandomFill."""

from __future__ import annotations

from ep_primitives.families.random_fill.descriptor import RandomFill
from ep_primitives.families.random_fill.generator import Generator
from ep_primitives.families.random_fill.rows import RANDOM_OPS

__all__ = ["RANDOM_OPS", "Generator", "RandomFill"]
