"""A Trail: the work of a stream that was not seen done, so that a failure heard late can be told by its place."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from ep.stream.validation import is_on

from ep_cuda.driver import ffi

if TYPE_CHECKING:
    import ep
    from ep_cuda.stream import CudaStream

__all__ = ["Trail"]

_MOST: Final = 64
_NBYTES: Final = 4


class Trail:
    """A driver that has given its device up tells of no event how far it came, but locked memory can still be read.

    With EP_VALIDATE=1 the stream writes there how much it has done, behind each piece of work, and `suspects` is the
    one that it was at. Without, these are all of the last 64 since the stream was seen idle.
    """

    def __init__(self, stream: CudaStream) -> None:
        self._stream = stream
        self._count = 0
        self._word: Any = None
        self._work: deque[tuple[int, ep.spi.Ticket]] = deque(maxlen=None if is_on() else _MOST)

    def add(self, ticket: ep.spi.Ticket) -> None:
        """Take note of work that was enqueued just now."""
        self._count += 1
        self._work.append((self._count, ticket))
        if self._work.maxlen is None:
            self._mark()

    def _mark(self) -> None:
        device = self._stream.device
        if self._word is None:
            self._word = ffi.cast("uint32_t volatile *", device.staging.take(_NBYTES))
            self._word[0] = 0
        place = ffi.cast("CUdeviceptr", self._word)
        with device.context as driver:
            driver.call("cuStreamWriteValue32_v2", self._stream.native, place, self._count, 0)
        if not self._count % _MOST:
            self._forget_done()

    def _forget_done(self) -> None:
        while self._word is not None and self._work and self._work[0][0] <= self._word[0]:
            self._work.popleft()

    def clear(self) -> None:
        """Take note that all work is done."""
        self._work.clear()

    def suspects(self) -> list[ep.spi.Ticket]:
        """Return the enqueues that may have failed, in their order; none if all work is done."""
        self._forget_done()
        tickets = dict.fromkeys(ticket for _, ticket in [*self._work])
        return [*tickets][:1] if self._work.maxlen is None else [*tickets]

    def close(self) -> None:
        """Give the memory back."""
        if self._word is not None:
            self._stream.device.staging.give(ffi.cast("void *", self._word), _NBYTES)
            self._word = None
