"""A launch of a collective: it takes its number where it is enqueued, and runs where its stream gets to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import ep

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    Run = Callable[[ep.spi.Stream, Any, Any], None]

__all__ = ["CarriedKernel", "Launch", "Task", "Turn"]


class Turn(NamedTuple):
    """A launch's place among the others of its communicator.

    key    : equal at all ranks that meet
    ranks  : those that meet
    number : as errors name it
    """

    key: Hashable
    ranks: tuple[int, ...]
    number: int


class Task(NamedTuple):
    """One launch whose stream has got to it.

    bound : what the kernel made of the memories of a step, None of others
    """

    turn: Turn
    kernel: Any  # the carrier's kind of CarriedKernel
    memories: tuple[ep.Memory, ...]
    bound: Any = None


class Launch:
    """What a launch runs, and a step: see `ep.spi.Communicator`.

    memories : of a step, None for those of each launch
    """

    def __init__(self, kernel: CarriedKernel, memories: tuple[ep.Memory, ...] | None = None) -> None:
        self._kernel = kernel
        self._memories = memories
        self._bound = None if memories is None else kernel.bound(memories)

    def numbered(self, stream: ep.spi.Stream) -> Run:
        """Take a number now, and return the run of that number."""
        kernel, memories, bound = self._kernel, self._memories, self._bound
        turn = kernel.communicator.take(kernel.collective)
        perform = kernel.communicator.performer(stream)
        if memories is None:
            return lambda lane, given, _: perform([Task(turn, kernel, given)], lane)
        return lambda lane, _, __: perform([Task(turn, kernel, memories, bound)], lane)

    def __call__(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        self.numbered(stream)(stream, memories, scalars)


class CarriedKernel(ep.Kernel):
    """One rank's part in one collective.

    communicator : the carrier's
    """

    def __init__(self, collective: ep.Collective, communicator: Any) -> None:
        self.collective = collective
        self.communicator = communicator

    @property
    def launch(self) -> Any:
        """The launch, an object: see `ep.spi.Communicator`."""
        return Launch(self)

    def bound(self, memories: tuple[ep.Memory, ...]) -> Any:
        """Return what is made once of the memories of a step."""
        del memories

    def bind(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Launch:
        del scalars
        return Launch(self, memories)
