"""NCCL's communicator as one of EP's: calls on streams of the driver, in the order of the launches."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from ep.errors import DeviceError, UnsupportedError

from ep_collectives.carrier.communicator import CarriedCommunicator
from ep_collectives.carrier.failure import Failure, Part
from ep_collectives.carrier.implementation import Carried, table_of
from ep_collectives.nccl.kernel import NcclKernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import ep
    from ep_collectives.carrier.launch import Task
    from ep_collectives.nccl.library import Library

__all__ = ["NcclCommunicator"]

_SHRINK_ABORT = 1


class Calls(Carried):
    """One call of the library, or a group of sends and receives; nothing is staged."""

    kernel_type: ClassVar[type[NcclKernel]] = NcclKernel


class NcclCommunicator(CarriedCommunicator):
    """One rank.

    make : returns the library's handle; called before the first collective, when it waits for all other ranks
    """

    table: ClassVar[Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]] = table_of(Calls())

    def __init__(self, library: Library, make: Callable[[], Any], rank: int, size: int, device: ep.Device) -> None:
        super().__init__(rank, size, device)
        self.library = library
        self._make = make
        self._native: Any = None
        self._failure: Failure | None = None

    @property
    def native(self) -> Any:
        """The library's handle."""
        if self._native is None:
            with self._current():
                self._native = self._make()
        return self._native

    @property
    def error(self) -> ep.CommunicatorError | None:
        if self._failure is None and self._native is not None:
            status = self.library.async_error(self._native)
            if status:
                self._failure = Failure(f"{self.library.flavour} says: {self.library.said(status)}", ())
        return None if self._failure is None else self._failure.error(self.rank)

    @property
    def living(self) -> tuple[int, ...]:
        return self._all  # the library does not say which rank failed

    def split(self, ranks: Sequence[int]) -> NcclCommunicator:
        """See spi.Communicator. All ranks in any order, or some of them in ascending order, which alone the library can do without the others."""
        chosen = tuple(ranks)
        if len(chosen) < self.size and chosen != tuple(sorted(chosen)):
            message = f"split: ranks are {chosen}, needs ascending ones for {self.library.flavour}, or a group of a new unique id"
            raise UnsupportedError(message)
        if len(chosen) < self.size and not self.library.has("CommShrink"):
            message = f"split: this {self.library.flavour} leaves out ranks only with their help; make a group of a new unique id"
            raise UnsupportedError(message)
        return NcclCommunicator(
            self.library, partial(self._split, chosen), chosen.index(self.rank), len(chosen), self.device
        )

    def abort(self, reason: str) -> None:
        if self._failure is None:
            self._failure = Failure(f"rank {self.rank} aborted{f': {reason}' if reason else ''}", (self.rank,))
        native, self._native = self._native, None
        if native is not None:
            self.library.call("CommAbort", native)

    def end(self) -> Iterable[tuple[ep.spi.Ledger, Any]]:
        held = [(ledger, run) for ledger, run in super().end() if ledger.stream is not None]
        last = len(held) - 1
        return [
            (ledger, partial(self._run_grouped, run, place == 0, place == last))
            for place, (ledger, run) in enumerate(held)
        ]

    def forget(self, run: Any) -> None:
        super().forget(run.args[0])

    def perform(self, tasks: Sequence[Task], lane: ep.spi.Stream) -> None:
        handle = lane.dlpack_stream()
        if handle is None:
            message = f"{tasks[0].kernel.collective.title}: {lane.ledger.name} is no queue of a driver, which {self.library.flavour} needs; take a stream of a GPU"
            raise UnsupportedError(message)
        stream = self.library.ffi.cast("void *", handle)
        for turn, kernel, memories, _ in tasks:
            try:
                with self._current():
                    kernel.run(memories, lane, self.native, stream)
            except DeviceError as error:
                self._failure = self._failure or Failure(str(error), (self.rank,))
                raise self._failure.error(self.rank, Part(self.rank, turn.number, kernel.collective)) from error
            finally:
                self.finished(turn.key)

    def leave(self) -> None:
        native, self._native = self._native, None
        if native is not None:
            with self._current():
                self.library.call("CommDestroy", native)

    def _do(self, tasks: Sequence[Task], lane: ep.spi.Stream, *_: Any) -> None:
        self.perform(tasks, lane)  # the driver's queue waits, and no thread

    def _run_grouped(self, run: Any, is_first: bool, is_last: bool, *given: Any) -> None:  # noqa: FBT001 - bound where it is made
        if is_first:
            assert self.native is not None  # made now: within a group it would not be there before the group's end
            self.library.call("GroupStart")
        try:
            run(*given)
        except BaseException:
            self.library.call("GroupEnd")
            raise
        if is_last:
            self.library.call("GroupEnd")

    def _split(self, chosen: tuple[int, ...]) -> Any:
        made, native, ffi = self.library.ffi.new("void **"), self.native, self.library.ffi
        if len(chosen) == self.size:
            self.library.call("CommSplit", native, 0, chosen.index(self.rank), made, ffi.NULL)
        else:
            others = [rank for rank in self._all if rank not in chosen]
            flags = 0 if self._failure is None else _SHRINK_ABORT
            self.library.call("CommShrink", native, ffi.new("int[]", others), len(others), made, ffi.NULL, flags)
        return made[0]

    def _current(self) -> Any:
        """Return what makes the device current to the thread, as the library's calls need: its provider's context, if it has one."""
        return getattr(self.device.twin, "context", None) or nullcontext()
