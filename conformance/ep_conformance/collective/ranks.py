"""The ranks of a case: communicators with streams, tensors between zones that nobody may write, and what is read back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from ep_collectives import Barrier, Broadcast, local_groups

import ep
from ep_conformance.fixture.together import together
from ep_conformance.judge.error import CaseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ep_conformance.fixture.trial import Trial

__all__ = ["Array", "CollectiveCase", "Rank", "Ranks", "Tensor", "same_bits"]

Array = npt.NDArray[Any]

_ZONE: Final = 0xA5
_TIMEOUT: Final = 60.0
"""Seconds: long, because a rank that waits in vain is what only the cases of failure want."""


def _all_here(size: int, timeout: float) -> dict[int, ep.spi.Group]:
    return dict(enumerate(local_groups(size, timeout=timeout)))


class CollectiveCase(NamedTuple):
    """A case of the level.

    name  : behind the number of ranks in its id
    body  : called with a Trial and `size`, the number of ranks
    claim : what it tries, in a sentence
    needs : a cell that the device must serve, "" for none
    """

    name: str
    body: Callable[..., None]
    claim: str
    needs: str = ""
    least_ranks: int = 1


class Tensor:
    """A tensor of one rank, between two zones."""

    def __init__(self, rank: Rank, trial: Trial, array: Array) -> None:
        self._rank = rank
        self._zone = rank.device.info.alignment
        self._nbytes, self.dtype, self.shape = array.nbytes, array.dtype, array.shape
        whole = np.full(array.nbytes + 2 * self._zone, _ZONE, np.uint8)
        whole[self._zone : self._zone + array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        self._whole = trial.closing(rank.device.allocate(whole.nbytes))
        rank.stream.upload(self._whole, whole)
        rank.stream.synchronize()
        self.memory = self._whole[self._zone : self._zone + array.nbytes]

    def put(self, array: Array) -> None:
        """Enqueue other contents."""
        self._rank.stream.upload(self.memory, np.ascontiguousarray(array).reshape(-1).view(np.uint8))

    def read(self) -> Array:
        """Return the contents when the rank's stream gets there. Raises CaseError for a byte written beside them."""
        whole = np.empty(self._nbytes + 2 * self._zone, np.uint8)
        self._rank.stream.download(whole, self._whole)
        self._rank.stream.synchronize()
        inside = slice(self._zone, self._zone + self._nbytes)
        beside = np.flatnonzero(np.delete(whole, inside) != _ZONE)
        if beside.size:
            message = (
                f"rank {self._rank.number}: {beside.size} bytes beside an operand of {self._nbytes} bytes were written"
            )
            raise CaseError(message)
        return whole[inside].view(self.dtype).reshape(self.shape)


class Rank(NamedTuple):
    """One rank of a case."""

    number: int
    communicator: ep.Communicator
    stream: ep.Stream

    @property
    def device(self) -> ep.Device:
        """The rank's device."""
        return self.communicator.device

    def launch(self, collective: ep.Collective, **tensors: Tensor) -> None:
        """Enqueue this rank's part."""
        memories = {name: tensor.memory for name, tensor in tensors.items()}
        collective.on(self.communicator)(self.stream, **memories)


class Ranks:
    """The ranks of a case that are in this process: all of them, or one, whose others are in other processes.

    Those of one process are on the devices of the provider in turn, beginning with the trial's; that of many on the trial's.

    here   : by number
    groups : called with the number of ranks and a timeout: the groups of those in this process, by number
    """

    groups: ClassVar[Callable[[int, float], dict[int, ep.spi.Group]]] = staticmethod(_all_here)

    def __init__(self, trial: Trial, size: int, *, timeout: float = _TIMEOUT) -> None:
        self.trial = trial
        self.size = size
        devices = trial.device.provider.devices()
        groups = Ranks.groups(size, timeout)
        self.is_whole = len(groups) == size
        self.here = {
            number: self._rank(
                number, group, devices[(trial.device.index + (number if self.is_whole else 0)) % len(devices)]
            )
            for number, group in groups.items()
        }
        self._beside = (
            None if self.is_whole else self._rank(*next(iter(Ranks.groups(size, _TIMEOUT).items())), trial.device)
        )

    def _rank(self, number: int, group: ep.spi.Group, device: ep.Device) -> Rank:
        communicator = ep.communicator(device, group)
        self.trial.first(communicator)  # so that no stream is waited for whose ranks wait for others
        return Rank(number, communicator, self.stream(device))

    def stream(self, device: ep.Device) -> ep.Stream:
        """Return an asynchronous stream, or one in the device's default mode if it has no asynchronous ones."""
        try:
            return self.trial.closing(device.stream(synchronous=False))
        except ep.UnsupportedError:
            return self.trial.closing(device.stream())

    def __iter__(self) -> Iterator[Rank]:
        return iter(self.here.values())

    def __getitem__(self, number: int) -> Rank:
        return self.here[number]

    @property
    def has_synchronous(self) -> bool:
        """True if a stream of a rank in this process is synchronous."""
        return any(rank.stream.is_synchronous for rank in self)

    def each(self, work: Callable[[Rank], None], order: Sequence[int] = ()) -> None:
        """Do something at each rank here: one after the other in an order, or at once where streams are synchronous.

        order : of the ranks' numbers; () for ascending
        """
        numbers = [number for number in order or range(self.size) if number in self.here]
        if self.has_synchronous:
            together(len(numbers), lambda place: work(self.here[numbers[place]]))
        else:
            for number in numbers:
                work(self.here[number])

    def run(
        self, collectives: Sequence[ep.Collective], arrays: Sequence[Mapping[str, Array]]
    ) -> dict[int, dict[str, Array]]:
        """Launch each rank's part, and return for each rank here the contents of all of its operands afterwards.

        arrays : for each rank the contents of its operands before, by name; one object twice is one memory
        """
        tensors = {rank.number: self.tensors(rank, arrays[rank.number]) for rank in self}
        self.each(lambda rank: rank.launch(collectives[rank.number], **tensors[rank.number]))
        return {number: {name: tensor.read() for name, tensor in given.items()} for number, given in tensors.items()}

    def tensors(self, rank: Rank, arrays: Mapping[str, Array]) -> dict[str, Tensor]:
        """Return tensors with contents; one array twice is one tensor."""
        made = {id(array): Tensor(rank, self.trial, array) for array in arrays.values()}
        return {name: made[id(array)] for name, array in arrays.items()}

    def meet(self) -> None:
        """Wait for the ranks of other processes; those of this one need no waiting."""
        if self._beside is not None:
            self._beside.launch(Barrier())
            self._beside.stream.synchronize(_TIMEOUT)

    def require_same(self, what: str, arrays: Mapping[int, Array]) -> None:
        """Fail the case unless an array, given by number for the ranks here, has the same bits at all ranks."""
        needed = next(iter(arrays.values()))
        if self._beside is not None and needed.size:
            tensor = Tensor(self._beside, self.trial, needed)
            spec = ep.TensorSpec(needed.dtype.name, needed.shape)
            self._beside.launch(Broadcast(x=spec, root=0), x=tensor)
            needed = tensor.read()
        for number, array in arrays.items():
            same_bits(f"{what} of rank {number} beside that of rank 0", array, needed)


def same_bits(what: str, found: Array, needed: Array) -> None:
    """Raise CaseError unless two arrays have the same bits."""
    odd = np.flatnonzero(found.reshape(-1).view(np.uint8) != np.ascontiguousarray(needed).reshape(-1).view(np.uint8))
    if odd.size:
        at = int(odd[0]) // found.itemsize
        message = f"{what}[{at}] == {found.reshape(-1)[at]!r}, needed {needed.reshape(-1)[at]!r} ({odd.size} of {found.nbytes} bytes differ)"
        raise CaseError(message)
