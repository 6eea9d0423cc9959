"""The family TopK."""

from __future__ import annotations

from ep_primitives.families.top_k.descriptor import TOP_K_OPS, TopK

__all__ = ["TOP_K_OPS", "TopK"]
