"""The family BroadcastBinary."""

from __future__ import annotations

from ep_primitives.families.broadcast_binary.descriptor import BroadcastBinary
from ep_primitives.families.broadcast_binary.rows import BINARY_OPS

__all__ = ["BINARY_OPS", "BroadcastBinary"]
