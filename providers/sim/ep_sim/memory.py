"""An Allocation is the handle of a memory: an object whose address only the workers may touch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ep
    from ep_sim.device import SimDevice
    from ep_sim.task import Task

__all__ = ["Allocation"]


class Allocation:
    """The handle of a memory: opaque, and its address faults.

    address  : of the first byte in the device view, which the host must not touch
    shadow   : of the first byte in the shadow view, for workers, and for the host if it is visible
    memory   : the same bytes as a Memory of the CPU's device, for its kernels
    whole    : the allocation that this is a part of, or itself
    is_parked: True while no memory uses it and the pool keeps it; is_freed: for good
    users    : the tasks that use the whole; a task that is not placed, or not any more, does not count
    """

    __slots__ = (
        "address",
        "device",
        "is_freed",
        "is_parked",
        "is_visible",
        "memory",
        "nbytes",
        "offset",
        "shadow",
        "slot",
        "span",
        "start",
        "users",
        "whole",
    )

    def __init__(self, device: SimDevice, nbytes: int, place: tuple[int, int, int], *, is_visible: bool) -> None:
        self.device = device
        self.nbytes = nbytes
        self.is_visible = is_visible
        self.is_freed = self.is_parked = False
        self.start, self.span, self.offset = place
        self.users: set[Task] = set()
        self.address = self.shadow = self.slot = 0
        self.memory: ep.Memory | None = None
        self.whole = self

    @property
    def is_touched(self) -> bool:
        """True if a task that is not finished uses the whole."""
        return any(task.is_placed for task in [*self.users])

    def part(self, skipped: int) -> Allocation:
        """Return the part of it that begins `skipped` bytes later."""
        assert self.memory is not None
        place = (self.start, self.span, self.offset + skipped)
        found = Allocation(self.device, self.nbytes - skipped, place, is_visible=self.is_visible)
        found.address, found.shadow, found.slot = self.address + skipped, self.shadow + skipped, self.slot
        found.memory, found.whole = self.memory[skipped:], self
        return found

    def __repr__(self) -> str:
        return f"<Allocation {self.nbytes} bytes at {self.address:#x} of {self.device.name}>"
