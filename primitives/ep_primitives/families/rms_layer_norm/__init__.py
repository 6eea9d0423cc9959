"""The family RmsLayerNorm."""

from __future__ import annotations

from ep_primitives.families.rms_layer_norm.descriptor import RmsLayerNorm

__all__ = ["RmsLayerNorm"]
