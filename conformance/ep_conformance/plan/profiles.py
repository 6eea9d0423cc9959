"""The profiles: how much data a run takes."""

from __future__ import annotations

from typing import Final

__all__ = ["PROFILES"]

PROFILES: Final = ("quick", "standard", "large", "exhaustive")
"""How much data: each profile runs the cases of those before it, too."""
