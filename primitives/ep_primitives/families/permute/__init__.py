"""The family Permute."""

from __future__ import annotations

from ep_primitives.families.permute.descriptor import Permute

__all__ = ["Permute"]
