"""The family Fill."""

from __future__ import annotations

from ep_primitives.families.fill.descriptor import Fill

__all__ = ["Fill"]
