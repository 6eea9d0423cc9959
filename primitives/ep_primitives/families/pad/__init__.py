"""The family Pad."""

from __future__ import annotations

from ep_primitives.families.pad.descriptor import Pad
from ep_primitives.families.pad.rows import PAD_OPS

__all__ = ["PAD_OPS", "Pad"]
