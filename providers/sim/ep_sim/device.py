"""The simulated device: memory that the host cannot touch, streams that go on when they like, failures on request."""

from __future__ import annotations

import itertools
import time
from functools import partial
from typing import TYPE_CHECKING, Final

from ep.ground.glimpse import glimpse

import ep
from ep_sim.arena import ALIGNMENT, Arena
from ep_sim.complaints import Complaints
from ep_sim.failures import Failures
from ep_sim.graph import TaskGraph
from ep_sim.memory import Allocation
from ep_sim.stream import SimStream
from ep_sim.task import Queue

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_sim.native import Native
    from ep_sim.scheduler import Scheduler
    from ep_sim.settings import Settings

__all__ = ["SimDevice"]

_DLPACK_EXTENSION: Final = 12  # kDLExtDev, dlpack.h
_RULES: Final = {ep.spi.FaultKind.KERNEL: "launch", ep.spi.FaultKind.COPY: "copy"}
_CLOCKS_APART: Final = 1000 * 10**9  # nanoseconds, so that times of two devices never look comparable


class SimDevice(ep.spi.Device):
    """One of several devices that share a scheduler. For tests, beyond the contract: fail, lose, reseed, history.

    complaints : misuse of the contract
    """

    def __init__(self, scheduler: Scheduler, native: Native, settings: Settings, place: int) -> None:
        cpu = scheduler.cpu
        info = cpu.info._replace(
            name=f"simulated over {cpu.info.name}",
            vendor="EP",
            driver="ep_sim",
            memory=settings.memory,
            memory_kinds=frozenset(ep.MemoryKind),
            alignment=ALIGNMENT,
            features=(cpu.info.features - {"host-memory"}) | {"cpu", "priority"},
            fingerprint="",
        )
        super().__init__(info)
        self.scheduler = scheduler
        self.native = native
        self.is_lost = False
        self.complaints = Complaints()
        self._failures = Failures(settings.failures)
        self._arena = Arena(self, native, cpu, settings.memory, settings.seed + place)
        self._epoch = time.perf_counter_ns() - (place + 1) * _CLOCKS_APART
        self._calls = itertools.count(1)
        self._called = 0

    # For tests.

    def fail(self, **rules: int) -> None:
        """Let something go wrong from now on, once: the n-th `allocation`, `launch`, `copy`, or `lost` with the n-th task."""
        self._failures.plan(rules)

    def lose(self) -> None:
        """Lose the device: work under way or enqueued fails, every later call raises DeviceLostError, waits end."""
        self.is_lost = True

    def reseed(self, seed: int) -> None:
        """Let all further choices, of all simulated devices, follow from another seed."""
        self.scheduler.reseed(seed)

    def history(self) -> list[tuple[str, int, str]]:
        """Return the last tasks that were begun on any simulated device: stream, sequence number, operation."""
        return [*self.scheduler.history]

    # For its streams and workers.

    def require_there(self) -> None:
        """Raise DeviceLostError if the device is lost."""
        if self.is_lost:
            raise self.lost_error()

    def lost_error(self) -> ep.DeviceLostError:
        """Return the error of a device that is lost."""
        message = f"{self.name} is lost; close what it made, then the device, and open it again"
        return ep.DeviceLostError(message, provider="sim", call="ep_sim", code="lost")

    def next_loss(self) -> Callable[[], ep.DeviceError] | None:
        """Return how the device is lost with the task that comes next, None if it is not."""
        return self._lose_with_a_task if self._failures.strikes("lost") else None

    def next_failure(self, kind: str) -> Callable[[], ep.DeviceError] | None:
        """Return the error of the next "launch" or "copy", None if it is not to fail or is of another kind."""
        return partial(_failure, kind) if kind and self._failures.strikes(kind) else None

    def clock(self) -> int:
        """Return the device's time, in nanoseconds."""
        return time.perf_counter_ns() - self._epoch

    def count_call(self) -> None:
        """Count one call of the driver that there would be."""
        self._called = next(self._calls)

    # The contract.

    def segment_size(self, nbytes: int) -> int:
        return nbytes  # not rounded up, so that an access to the byte after the last one is noticed

    def allocate(self, nbytes: int, kind: ep.MemoryKind) -> Allocation:
        self.require_there()
        self.count_call()
        fails, arena = self._failures.strikes("allocation"), self._arena
        found = None if fails else arena.take(nbytes, is_visible=kind is not ep.MemoryKind.DEVICE)
        if found is not None:
            return found
        in_use, free = arena.in_use, arena.capacity - arena.in_use
        message = f"{self.name}: no room for {nbytes} bytes; {free} of {arena.capacity} are free"
        raise ep.OutOfMemoryError(
            message, requested=nbytes, free=free, reserved=in_use, provider="sim", call="ep_arena_map"
        )

    def free(self, handle: Allocation, kind: ep.MemoryKind) -> None:
        del kind
        self._take_back(handle, "freed", self._arena.give)

    def park(self, handle: Allocation, kind: ep.MemoryKind) -> None:
        del kind
        self._take_back(handle, "given back", self._arena.park)

    def unpark(self, handle: Allocation, nbytes: int, kind: ep.MemoryKind) -> None:
        del nbytes, kind
        self._arena.unpark(handle)

    def _take_back(self, handle: Allocation, how: str, protect: Callable[[Allocation], int]) -> None:
        if handle.is_freed or (handle.is_parked and how == "given back"):
            self.complaints.add(f"{handle!r} was {how}, and that is not the first time")
        elif handle.is_touched:
            self._arena.spoil(handle)
            self.complaints.add(f"{handle!r} was {how} while enqueued work still uses it")
        elif overwritten := protect(handle):
            self.complaints.add(f"{overwritten} bytes beside {handle!r} were overwritten")

    def memory_info(self) -> tuple[int, int]:
        self.require_there()
        return self._arena.capacity, self._arena.capacity - self._arena.in_use

    def host(self, handle: Allocation, nbytes: int) -> memoryview:
        if not handle.is_visible:
            return super().host(handle, nbytes)
        ffi = self.native.ffi
        return memoryview(ffi.buffer(ffi.cast("char *", handle.shadow), nbytes)).cast("B")

    def stream(self, ledger: ep.spi.Ledger, *, priority: int, timed: bool, synchronous: bool | None) -> SimStream:
        self.require_there()
        self.count_call()
        queue = self.scheduler.open(self, priority)
        queue.users += 1
        return SimStream(self, ledger, queue, is_synchronous=bool(synchronous), is_timed=timed)

    def wrap_memory(self, handle: object, nbytes: int) -> Allocation:
        found = self._arena.find(handle) if type(handle) is int else handle
        if type(found) is not Allocation or found.device is not self or found.nbytes < nbytes:
            message = f"wrap_memory: {glimpse(handle)} is no allocation of {self.name} with {nbytes} bytes; give its handle or address"
            raise ValueError(message)
        return found

    def wrap_stream(self, ledger: ep.spi.Ledger, handle: object) -> SimStream:
        if type(handle) is not Queue:
            message = f"wrap_stream: {glimpse(handle)} is no queue of {self.name}; stream.twin.dlpack_stream() tells a stream's"
            raise TypeError(message)
        if handle.device is not self or not handle.users:
            message = f"wrap_stream: {handle!r} is of {handle.device.name} and of {handle.users} open streams; give one of {self.name} that is open"
            raise ValueError(message)
        handle.users += 1
        return SimStream(self, ledger, handle, is_synchronous=False, is_timed=True)

    def dlpack_device(self) -> tuple[int, int]:
        return (_DLPACK_EXTENSION, self.index)

    def address(self, handle: Allocation) -> int:
        return handle.address

    def instantiate(self, nodes: tuple[ep.Node, ...], slots: tuple[ep.Slot, ...]) -> ep.Executable:
        return TaskGraph(nodes, slots)

    def can_copy_from(self, other: ep.spi.Device) -> bool:
        return isinstance(other, SimDevice) and other.scheduler is self.scheduler

    def can_copy_to(self, other: ep.spi.Device) -> bool:
        return self.can_copy_from(other)

    def inject(self, fault: ep.spi.Fault) -> None:
        if fault.kind is ep.spi.FaultKind.LOSS:
            self.lose()
        else:
            self.fail(**{_RULES[fault.kind]: fault.nth})

    @property
    def native_calls(self) -> int:
        """Allocations, streams and tasks so far."""
        return self._called

    def close(self) -> None:
        self.scheduler.end()
        self._arena.close()

    def _lose_with_a_task(self) -> ep.DeviceError:
        self.lose()
        return self.lost_error()


def _failure(kind: str) -> ep.DeviceError:
    return ep.DeviceError(f"the {kind} failed, as was asked for", provider="sim", call="ep_sim", code="injected")
