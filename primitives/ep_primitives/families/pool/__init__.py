"""The family Pool."""

from __future__ import annotations

from ep_primitives.families.pool.descriptor import Pool
from ep_primitives.families.pool.rows import POOL_OPS

__all__ = ["POOL_OPS", "Pool"]
