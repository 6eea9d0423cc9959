"""The family GroupNorm."""

from __future__ import annotations

from ep_primitives.families.group_norm.descriptor import GroupNorm

__all__ = ["GroupNorm"]
