"""PyTorch as a peer: its operators with `out=`, on the processor."""

from __future__ import annotations

from ep_benchmarks.peers.pytorch.peer import PEER

__all__ = ["PEER"]
