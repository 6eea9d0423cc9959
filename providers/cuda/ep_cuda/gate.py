"""A Gate holds back the work of a stream until the host has done a task in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_cuda.driver import ffi

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_cuda.event import CudaEvent
    from ep_cuda.stream import CudaStream

__all__ = ["Gate"]

_AT_LEAST: Final = 0  # CU_STREAM_WAIT_VALUE_GEQ


class Gate:
    """A word of locked host memory that the device reads: 0, and 1 once the gate is open.

    A host function of the driver's would need native code, as it must not wait for the interpreter's lock.

    nbytes  : of the word
    address : where it is
    """

    nbytes: Final = 4

    def __init__(self, stream: CudaStream) -> None:
        """Take a word. Raises OutOfMemoryError."""
        self._stream = stream
        self.address = stream.device.staging.take(self.nbytes)
        self._word = ffi.cast("uint32_t volatile *", self.address)
        self._word[0] = 0

    def do(self, before: CudaEvent, task: Callable[[], object], fail: Callable[[BaseException], None]) -> None:
        """Wait for the work before, do the task, and open, even if the task fails.

        For a thread of its own: it blocks in the driver, where Ctrl-C does not reach.
        """
        with self._stream.device.context as driver:
            # The stream hears of a failure by itself; the task's turn has come.
            driver.functions.cuEventSynchronize(before.native)
        try:
            task()
        except BaseException as error:  # noqa: BLE001 - it is raised where the stream is synchronised
            fail(error)
        finally:
            self.open()

    def wait(self) -> None:
        """Hold back what is enqueued from here on."""
        place = ffi.cast("CUdeviceptr", self.address)
        with self._stream.device.context as driver:
            status = driver.functions.cuStreamWaitValue32_v2(self._stream.native, place, 1, _AT_LEAST)
        self._stream.marked("cuStreamWaitValue32", status)

    def open(self) -> None:
        """Let the stream go on."""
        self._word[0] = 1
