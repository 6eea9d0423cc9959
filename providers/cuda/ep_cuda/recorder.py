"""A Recorder: a stream that turns what is enqueued into graphs of the driver's, and runs none of it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import ep
from ep_cuda.driver import ffi
from ep_cuda.stream import CudaStream, new_stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_cuda.device import CudaDevice

__all__ = ["Recorder"]

_NON_BLOCKING: Final = 1  # CU_STREAM_NON_BLOCKING: others may use the legacy default stream meanwhile
_ANY_CALL: Final = 2  # CU_STREAM_CAPTURE_MODE_RELAXED: this and other threads call meanwhile what they like


class Recorder(CudaStream):
    """A stream of the driver's for captures alone."""

    def __init__(self, device: CudaDevice, nodes: tuple[ep.Node, ...]) -> None:
        """Make a stream for nodes of a device, of which there is one at least. Raises DeviceError."""
        memories = (memory for node in nodes for memory in node.memories if memory is not None)
        owner = next(memory.device for memory in memories if memory.device.twin is device)
        native = new_stream(device, 0, _NON_BLOCKING)
        super().__init__(device, ep.spi.Ledger(owner), native, is_synchronous=False, is_timed=False)

    @contextmanager
    def recording(self, node: ep.Node) -> Iterator[Any]:
        """Yield a node's work as a graph of the driver's, which is destroyed afterwards. Raises DeviceError."""
        with self.device.context as driver:
            driver.call("cuStreamBeginCapture_v2", self.native, _ANY_CALL)
            graph = ffi.new("CUgraph *")
            try:
                node.run(self, node.memories, node.scalars)
            finally:
                status = driver.functions.cuStreamEndCapture(self.native, graph)
            if status:
                raise self.device.failed(status, "cuStreamEndCapture")
            try:
                yield graph[0]
            finally:
                driver.functions.cuGraphDestroy(graph[0])

    def close(self) -> None:
        self._destroy()
