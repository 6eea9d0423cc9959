"""The family Reduce."""

from __future__ import annotations

from ep_primitives.families.reduce.descriptor import Reduce
from ep_primitives.families.reduce.rows import REDUCE_OPS

__all__ = ["REDUCE_OPS", "Reduce"]
