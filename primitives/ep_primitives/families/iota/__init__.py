"""The family Iota."""

from __future__ import annotations

from ep_primitives.families.iota.descriptor import Iota

__all__ = ["Iota"]
