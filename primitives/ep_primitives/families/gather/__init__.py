"""The family Gather."""

from __future__ import annotations

from ep_primitives.families.gather.descriptor import Gather

__all__ = ["Gather"]
