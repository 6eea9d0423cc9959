"""Saboteurs of work that is recorded once and run often: bound steps and graphs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ep.work.executable import Replay

from ep_conformance.saboteurs.graph import HonestGraph
from ep_conformance.saboteurs.implementations import HonestKernel
from ep_conformance.saboteurs.provider import HonestProvider
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep.work.executable import Bindings, Node, Run, Slot

    import ep

_FEW_NODES: Final = 3

__all__ = [
    "DropsTheLastNode",
    "ForgetsWhereItPacked",
    "KeepsOldBindings",
    "MovesFillsForward",
    "PacksSlots",
    "SharesArguments",
    "SharesBindings",
    "SharesTheStepThatRuns",
]


@killed_by("runtime/primitive/bound-steps-keep-their-own-arguments")
class SharesArguments(HonestKernel):
    """Keep the arguments of all bound steps of a primitive in one place."""

    _bound: tuple[tuple[ep.Memory, ...], tuple[Any, ...]]

    def bind(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Callable[..., Any]:
        self._bound = (memories, scalars)
        return lambda stream, *_: self.launch(stream, *self._bound)


@killed_by("runtime/thread/each-with-its-own-step")
class SharesTheStepThatRuns(HonestKernel):
    """Keep the step that runs in one place of its primitive, for whichever thread runs one."""

    _running: tuple[tuple[ep.Memory, ...], tuple[Any, ...]]

    def bind(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Callable[..., Any]:
        def run(stream: Any, *_: Any) -> None:
            self._running = (memories, scalars)
            time.sleep(0)  # another thread's turn may come
            self.launch(stream, *self._running)

        return run


class _DropsTheLastNode(HonestGraph):
    def __init__(self, nodes: tuple[Node, ...], slots: tuple[Slot, ...]) -> None:
        super().__init__(nodes, slots)
        if len(nodes) > _FEW_NODES:
            self._nodes = nodes[:-1]
            kept = len(self._nodes)
            self._slots = tuple(
                slot._replace(places=tuple(at for at in slot.places if at.node < kept)) for slot in slots
            )


@killed_by("runtime/graph/random-programs-replay")
class DropsTheLastNode(HonestProvider):
    """Forget the last node of a graph of more than three."""

    graph_type: ClassVar[type[HonestGraph]] = _DropsTheLastNode


class _MovesFillsForward(HonestGraph):
    def __init__(self, nodes: tuple[Node, ...], slots: tuple[Slot, ...]) -> None:
        order = sorted(range(len(nodes)), key=lambda number: nodes[number].what != "fill")
        super().__init__(
            tuple(nodes[number] for number in order),
            tuple(
                slot._replace(places=tuple(at._replace(node=order.index(at.node)) for at in slot.places))
                for slot in slots
            ),
        )


@killed_by("runtime/graph/random-programs-replay")
class MovesFillsForward(HonestProvider):
    """Do all fills of a graph before its other nodes."""

    graph_type: ClassVar[type[HonestGraph]] = _MovesFillsForward


class _KeepsOldBindings(HonestGraph):
    _last: Bindings = ()

    def bind(self, bindings: Bindings) -> Run:
        last = self._last or bindings
        self._last = tuple(new or old for new, old in zip(bindings, last, strict=True))
        return super().bind(self._last)


@killed_by("runtime/graph/slots-not-given-keep-the-captured-memory")
class KeepsOldBindings(HonestProvider):
    """Leave in a slot what an earlier launch gave, where a later one gives nothing."""

    graph_type: ClassVar[type[HonestGraph]] = _KeepsOldBindings


class _PacksSlots(HonestGraph):
    def bind(self, bindings: Bindings) -> Run:
        pairs = zip(self._slots, bindings, strict=True)
        return super().bind(tuple(None if slot.memory.is_frozen else memory for slot, memory in pairs))


@killed_by("runtime/frozen/slots-replace-frozen-memories")
class PacksSlots(HonestProvider):
    """Read what was packed of a frozen memory that a graph was captured with, whatever a launch gives in its place."""

    graph_type: ClassVar[type[HonestGraph]] = _PacksSlots


@killed_by("runtime/frozen/steps-tell-frozen-memories-apart")
class ForgetsWhereItPacked(HonestKernel):
    """Keep what was packed of a frozen memory with the memory, and forget where in it the operand begins."""

    def bind(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Callable[..., Any]:
        lasting = [memory if memory is None or not memory.is_frozen else self._packed(memory) for memory in memories]
        return super().bind(tuple(lasting), scalars)

    def _packed(self, memory: ep.Memory) -> ep.Memory:
        packed: ep.Memory = memory.derive(memory.nbytes, lambda: memory)
        return packed


class _SharesBindings(HonestGraph):
    _latest: Bindings = ()

    def bind(self, bindings: Bindings) -> Run:
        def run(stream: Any, memories: Any, scalars: Any) -> None:
            self._latest = bindings
            lane = self.lane(stream)
            stream.enqueue(lambda: Replay.bind(self, self._latest)(lane, memories, scalars))  # at the last moment

        return run


@killed_by("runtime/graph/bindings-of-launches-under-way-do-not-mix")
class SharesBindings(HonestProvider):
    """Keep the bindings of all launches of a graph in one place, which is read when the work begins."""

    graph_type: ClassVar[type[HonestGraph]] = _SharesBindings
