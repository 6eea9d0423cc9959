"""The family Attention."""

from __future__ import annotations

from ep_primitives.families.attention.descriptor import Attention

__all__ = ["Attention"]
