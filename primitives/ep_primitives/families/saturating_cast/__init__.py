"""The family SaturatingCast."""

from __future__ import annotations

from ep_primitives.families.saturating_cast.descriptor import SaturatingCast

__all__ = ["SaturatingCast"]
