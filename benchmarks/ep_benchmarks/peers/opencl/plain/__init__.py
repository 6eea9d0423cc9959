"""Plain OpenCL kernels as a peer: for each family of memory-bound operations the short text that a programmer writes first."""

from __future__ import annotations

from ep_benchmarks.peers.opencl.plain.peer import PEER

__all__ = ["PEER"]
