"""The family Where."""

from __future__ import annotations

from ep_primitives.families.where.descriptor import Where

__all__ = ["Where"]
