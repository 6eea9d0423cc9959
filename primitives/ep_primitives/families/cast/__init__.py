"""The family Cast."""

from __future__ import annotations

from ep_primitives.families.cast.descriptor import Cast

__all__ = ["Cast"]
