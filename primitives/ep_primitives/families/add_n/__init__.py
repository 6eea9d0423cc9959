"""The family AddN."""

from __future__ import annotations

from ep_primitives.families.add_n.descriptor import AddN

__all__ = ["AddN"]
