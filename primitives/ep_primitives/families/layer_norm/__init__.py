"""The family LayerNorm."""

from __future__ import annotations

from ep_primitives.families.layer_norm.descriptor import LayerNorm

__all__ = ["LayerNorm"]
