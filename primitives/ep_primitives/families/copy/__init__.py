"""The family Copy."""

from __future__ import annotations

from ep_primitives.families.copy.descriptor import Copy

__all__ = ["Copy"]
