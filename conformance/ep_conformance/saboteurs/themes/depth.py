"""Saboteurs of depth: rings and tables with room for many, and what comes round when there are more."""

from __future__ import annotations

import itertools
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ep.memory.retire import RetireList

import ep
from ep_conformance.saboteurs.device import HonestDevice
from ep_conformance.saboteurs.graph import HonestGraph
from ep_conformance.saboteurs.implementations import HonestKernel
from ep_conformance.saboteurs.provider import HonestProvider
from ep_conformance.saboteurs.saboteur import killed_by
from ep_conformance.saboteurs.stream import HonestStream, bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep.work.executable import Bindings, Node, Run, Slot

    from ep_conformance.saboteurs.event import HonestEvent

__all__ = [
    "CallsFromARing",
    "CopiesFromARing",
    "DownloadsFromARing",
    "HasAFewGraphs",
    "HasAFewSteps",
    "HasAFewStepsWithoutPromise",
    "KeepsTheFirstWaits",
    "KeepsTheLastWaits",
    "LaunchesFromARing",
    "LaunchesFromARingWithoutPromise",
    "NumbersFromARing",
    "RecordsOnStreamsByFiveBits",
    "RecyclesEvents",
    "RetiresAFew",
    "StagesConstantsInARing",
]

_MANY: Final = 4096
_HUNDREDS: Final = 512
_FEW: Final = 256
_WAITS: Final = 16
_STREAMS: Final = 32


class _Ring:
    """Slots that are used again and again; who comes late finds what was put there last."""

    def __init__(self, size: int) -> None:
        self._slots: list[Any] = [None] * size
        self._turns = itertools.count()

    def put(self, thing: Any) -> Callable[[], Any]:
        """Put something into the next slot, and return what reads the slot."""
        slots, place = self._slots, next(self._turns) % len(self._slots)
        slots[place] = thing
        return lambda: slots[place]


class _FromARing(HonestKernel):
    _size: ClassVar[int]
    _has_numbers: ClassVar[bool]

    def __init__(self, descriptor: ep.Descriptor, cpu: ep.Device) -> None:
        super().__init__(descriptor, cpu)
        self._ring = _Ring(self._size)

    def launch(self, stream: Any, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        if bool(scalars) is not self._has_numbers or self.scratch_nbytes:
            super().launch(stream, memories, scalars)
            return
        assert isinstance(stream, HonestStream)
        named = self.descriptor.named(memories, scalars)
        numbers = self._ring.put(
            {name: its for name, its in named.items() if (type(its) is ep.Memory) is not bool(scalars)}
        )
        own = {name: self.operand(its) if type(its) is ep.Memory else its for name, its in named.items()}
        cpu = stream.cpu

        def task() -> None:
            found = {name: self.operand(its) if type(its) is ep.Memory else its for name, its in numbers().items()}
            self.run(cpu, {**own, **found})

        stream.enqueue(stream.work(task, "kernel"))


@killed_by("runtime/depth/launches")
class LaunchesFromARing(_FromARing):
    """Keep the operands of launches in a ring of 4,096."""

    _size, _has_numbers = _MANY, False


@killed_by("runtime/depth/numbers")
class NumbersFromARing(_FromARing):
    """Keep the numbers of launches in a ring of 512."""

    _size, _has_numbers = _HUNDREDS, True


@killed_by("runtime/depth/steps")
class HasAFewSteps(HonestKernel):
    """Keep the arguments of bound steps in a table of 512, where the newest wins."""

    def __init__(self, descriptor: ep.Descriptor, cpu: ep.Device) -> None:
        super().__init__(descriptor, cpu)
        self._table = _Ring(_HUNDREDS)

    def bind(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Callable[..., Any]:
        found = self._table.put((memories, scalars))
        return lambda stream, *_: self.launch(stream, *found())


class _PromisesNoBits(HonestDevice):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.info = self.info._replace(determinism="none")


@killed_by("runtime/depth/launches")
class LaunchesFromARingWithoutPromise(HonestProvider):
    """Keep the operands of launches in a ring of 4,096, on a device that promises no equal bits."""

    device_type: ClassVar[type[HonestDevice]] = _PromisesNoBits
    kernel_type: ClassVar[type[HonestKernel]] = LaunchesFromARing


@killed_by("runtime/depth/steps")
class HasAFewStepsWithoutPromise(HonestProvider):
    """Keep the arguments of bound steps in a table of 512, where the newest wins, on a device that promises no equal bits."""

    device_type: ClassVar[type[HonestDevice]] = _PromisesNoBits
    kernel_type: ClassVar[type[HonestKernel]] = HasAFewSteps


class _CopiesFromARing(HonestStream):
    def __init__(self, *args: Any, **options: Any) -> None:
        self._ring = _Ring(_MANY)
        super().__init__(*args, **options)

    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        if isinstance(dst, ep.Memory) and isinstance(src, ep.Memory):
            cpu, found = self.cpu, self._ring.put((bytes_of(dst), bytes_of(src)))
            self.enqueue(self.work(lambda: cpu.copy(*found()), "copy"))
        else:
            super().copy(dst, src, nbytes)


@killed_by("runtime/depth/copies")
class CopiesFromARing(HonestProvider):
    """Keep the addresses of copies inside the device in a ring of 4,096."""

    stream_type: ClassVar[type[HonestStream]] = _CopiesFromARing


class _StagesConstantsInARing(HonestStream):
    def __init__(self, *args: Any, **options: Any) -> None:
        self._ring = _Ring(_FEW)
        super().__init__(*args, **options)

    def upload_constant(self, dst: ep.Memory, src: memoryview, nbytes: int) -> None:
        del nbytes
        cpu, target, found = self.cpu, bytes_of(dst), self._ring.put(bytes(src))
        self.enqueue(
            self.work(lambda: cpu.upload(target, found()[: target.nbytes].ljust(target.nbytes, b"\0")), "copy")
        )


@killed_by("runtime/depth/uploads")
class StagesConstantsInARing(HonestProvider):
    """Stage constant buffers in a ring of 256."""

    stream_type: ClassVar[type[HonestStream]] = _StagesConstantsInARing


class _DownloadsFromARing(HonestStream):
    def __init__(self, *args: Any, **options: Any) -> None:
        self._ring = _Ring(_HUNDREDS)
        super().__init__(*args, **options)

    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        if isinstance(dst, memoryview) and isinstance(src, ep.Memory):
            cpu, found = self.cpu, self._ring.put((dst, bytes_of(src)))
            self.enqueue(self.work(lambda: cpu.download(*found()), "copy"))
        else:
            super().copy(dst, src, nbytes)


@killed_by("runtime/depth/downloads")
class DownloadsFromARing(HonestProvider):
    """Keep the buffers of downloads in a ring of 512."""

    stream_type: ClassVar[type[HonestStream]] = _DownloadsFromARing


class _CallsFromARing(HonestStream):
    def __init__(self, *args: Any, **options: Any) -> None:
        self._functions: dict[int, Callable[[], object]] = {}
        self._turns = itertools.count()
        super().__init__(*args, **options)

    def call(self, function: Callable[[], object]) -> None:
        place, functions = next(self._turns) % _HUNDREDS, self._functions
        functions[place] = function

        def call() -> None:
            functions.pop(place, list)()

        super().call(call)


@killed_by("runtime/depth/calls")
class CallsFromARing(HonestProvider):
    """Keep host functions in a ring of 512."""

    stream_type: ClassVar[type[HonestStream]] = _CallsFromARing


class _RecyclesEvents(HonestStream):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._recorded = 0
        self._pool = [self._event_type() for _ in range(_MANY)]

    def record(self, *, timed: bool) -> HonestEvent:
        if timed:
            return super().record(timed=timed)
        event = self._pool[self._recorded % _MANY].of(self)
        self._recorded += 1
        event.reached.clear()
        self.enqueue(event.reach)
        return event


@killed_by("runtime/depth/events")
class RecyclesEvents(HonestProvider):
    """Use the 4,096 events of a stream's pool again, without a look whether somebody still has them."""

    stream_type: ClassVar[type[HonestStream]] = _RecyclesEvents


class _KeepsAFewWaits(HonestStream):
    def __init__(self, *args: Any, **options: Any) -> None:
        self._awaited: deque[ep.Event] = deque()
        super().__init__(*args, **options)

    def wait(self, event: ep.Event) -> None:
        self._awaited.append(event)
        if len(self._awaited) > _WAITS:
            self.forget(self._awaited)

    def forget(self, awaited: deque[ep.Event]) -> None:
        """Make room for one more."""
        raise NotImplementedError

    def enqueue(self, task: Callable[[], object]) -> None:
        awaited, self._awaited = self._awaited, deque()
        for event in awaited:
            super().wait(event)
        super().enqueue(task)


class _KeepsTheLastWaits(_KeepsAFewWaits):
    def forget(self, awaited: deque[ep.Event]) -> None:
        awaited.popleft()


@killed_by("runtime/depth/waits")
class KeepsTheLastWaits(HonestProvider):
    """Keep the last 16 of the waits in front of a piece of work."""

    stream_type: ClassVar[type[HonestStream]] = _KeepsTheLastWaits


class _KeepsTheFirstWaits(_KeepsAFewWaits):
    def forget(self, awaited: deque[ep.Event]) -> None:
        awaited.pop()


@killed_by("runtime/depth/waits")
class KeepsTheFirstWaits(HonestProvider):
    """Keep the first 16 of the waits in front of a piece of work."""

    stream_type: ClassVar[type[HonestStream]] = _KeepsTheFirstWaits


class _RecordsOnStreamsByFiveBits(HonestStream):
    _slots: ClassVar[dict[int, weakref.ref[_RecordsOnStreamsByFiveBits]]] = {}
    is_ended = False

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._slot = next(slot for slot in itertools.count() if self.at(slot) is None)
        self._slots[self._slot] = weakref.ref(self)

    @classmethod
    def at(cls, slot: int) -> _RecordsOnStreamsByFiveBits | None:
        """Return the open stream in a slot of the table."""
        found = cls._slots[slot]() if slot in cls._slots else None
        return None if found is None or found.is_ended else found

    def record(self, *, timed: bool) -> HonestEvent:
        del timed
        event = self._event_type().of(self)
        there = self.at(self._slot % _STREAMS)
        (self if there is None or there.device is not self.device else there).enqueue(event.reach)
        return event

    def close(self) -> None:
        self.is_ended = True
        super().close()


@killed_by("runtime/depth/streams")
class RecordsOnStreamsByFiveBits(HonestProvider):
    """Number open streams by five bits, and record events on the first that has the number."""

    stream_type: ClassVar[type[HonestStream]] = _RecordsOnStreamsByFiveBits


class _HasAFewGraphs(HonestGraph):
    _table: ClassVar[_Ring] = _Ring(_FEW)

    def __init__(self, nodes: tuple[Node, ...], slots: tuple[Slot, ...]) -> None:
        super().__init__(nodes, slots)
        self._found = self._table.put((nodes, slots))

    def bind(self, bindings: Bindings) -> Run:
        nodes, slots = self._found()
        if len(slots) == len(self._slots):
            self._nodes, self._slots = nodes, slots
        return super().bind(bindings)


@killed_by("runtime/depth/graphs")
class HasAFewGraphs(HonestProvider):
    """Keep the nodes of graphs in a table of 256, where the newest wins."""

    graph_type: ClassVar[type[HonestGraph]] = _HasAFewGraphs


class _FewRetired(RetireList):
    def _pass(self) -> None:
        if len(self) > _FEW:
            for batch in self._stamped:
                batch.events = []
        super()._pass()


class _RetiresAFew(ep.Device):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._retired = _FewRetired(self._heap.pool)


@killed_by("runtime/depth/closed-memories")
class RetiresAFew(HonestProvider):
    """Give closed memories away when more than 256 of them wait for work under way."""

    host_device: ClassVar[type[ep.Device]] = _RetiresAFew
