"""pyopencl's arrays as a peer: `pyopencl.array`, `pyopencl.clmath` and `pyopencl.clrandom`."""

from __future__ import annotations

from ep_benchmarks.peers.opencl.arrays.peer import PEER

__all__ = ["PEER"]
