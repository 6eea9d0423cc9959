"""The slots of a graph: which captured operands lie in them, and whether a launch's memories may take their places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, final

from ep.layout.role import SCRATCH
from ep.memory.memory import HOST_SPACE, Memory, require_memory
from ep.memory.namesakes import refuse_device
from ep.work.executable import Place, Slot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ep.stream.device import Device
    from ep.work.executable import Bindings, Node

__all__ = ["SlotTable", "overlapping"]


class _Span(NamedTuple):
    """The bytes [lo, hi) of a memory that a node touches.

    alignment : bytes that the operand's place in the allocation is a multiple of
    name      : of the node and the operand
    """

    memory: Memory
    lo: int
    hi: int
    is_written: bool
    alignment: int
    name: str
    node: int
    operand: int


class _Needs(NamedTuple):
    """The requirements of a slot on a memory.

    place      : of the slot among the slots
    device, nbytes, offset : of the captured memory
    alignment  : bytes that the difference of both offsets is a multiple of
    is_written : by some node
    """

    place: int
    slot: Slot
    device: Device
    nbytes: int
    offset: int
    alignment: int
    is_written: bool


@final
class SlotTable:
    """The slots over the nodes of a graph.

    Raises ValueError for a slot in which no operand lies, and for an operand that lies in one in part.
    """

    def __init__(self, nodes: tuple[Node, ...], memories: Mapping[str, Memory]) -> None:
        inside: dict[str, list[tuple[_Span, int]]] = {name: [] for name in memories}
        outside: dict[int, list[_Span]] = {}
        for span in _spans(nodes):
            slot, distance = _slot_of(span, memories)
            if slot is not None:
                inside[slot].append((span, distance))
            else:
                outside.setdefault(span.memory._block.space, []).append(span)
        self._outside = {space: _merged(spans) for space, spans in outside.items()}
        self._needs: dict[str, _Needs] = {}
        for place, (name, memory) in enumerate(memories.items()):
            if not inside[name] and memory.nbytes:
                message = (
                    f"graph.slot: no captured operand lies in {name} ({memory!r}); name a memory that was captured"
                )
                raise ValueError(message)
            places = tuple(Place(span.node, span.operand, distance) for span, distance in inside[name])
            self._needs[name] = _Needs(
                place,
                Slot(name, memory, places),
                memory.device,
                memory.nbytes,
                memory.offset,
                max((span.alignment for span, _ in inside[name]), default=1),
                any(span.is_written for span, _ in inside[name]),
            )
        self.slots = tuple(needs.slot for needs in self._needs.values())
        self._captured = tuple(memories.values())

    def check(self, given: Mapping[str, Any]) -> tuple[tuple[Memory, ...], Bindings]:
        """Return the memories of a launch, and for each slot the one that it gives."""
        bindings: list[Memory | None] = [None] * len(self.slots)
        for name, memory in given.items():
            try:
                place, _, device, nbytes, offset, alignment, is_written = self._needs[name]
                fits = (
                    memory._block.device is device
                    and memory.nbytes >= nbytes
                    and not (memory.offset - offset) % alignment
                    and not (is_written and memory._block.is_read_only)
                )
            except (KeyError, AttributeError):  # no such slot, or no memory
                self._explain(name, memory)
            if not fits:
                self._explain(name, memory)
            bindings[place] = memory
        if self._may_share(given.values(), bindings):
            for name, memory in given.items():
                self._check_sharing(name, memory, bindings)
        return tuple(given.values()), tuple(bindings)

    def _explain(self, name: str, memory: Any) -> NoReturn:
        """Raise the error of a launch that check() refused."""
        if name not in self._needs:
            known = f"the slots are {', '.join(self._needs)}" if self._needs else "it has none"
            message = f"graph.launch: there is no slot {name}; {known}; graph.slot makes them before the first launch"
            raise ValueError(message)
        require_memory(f"graph.launch: {name}", memory)
        needs = self._needs[name]
        if memory.device is not needs.device:
            its, mine = memory.device, needs.device
            refuse_device("graph.launch", f"{name} is on", its, mine, f"{mine.name}; use stream.copy")
        if memory.nbytes < needs.nbytes:
            message = f"graph.launch: {name} has {memory.nbytes} bytes, needs {needs.nbytes}, as many as were captured; give a larger one"
        elif (memory.offset - needs.offset) % needs.alignment:
            rest = needs.offset % needs.alignment
            message = f"graph.launch: {name} starts at byte {memory.offset}, needs a multiple of {needs.alignment}{f' plus {rest}' if rest else ''}; give a view that starts there"
        else:
            message = (
                f"graph.launch: {name} is a view of a read-only object, and the graph writes it; give a writable memory"
            )
        raise ValueError(message)

    def _may_share(self, given: Iterable[Memory], bindings: list[Memory | None]) -> bool:
        """Answer quickly, and False only if no memory given shares bytes with any other."""
        used = [captured if its is None else its for its, captured in zip(bindings, self._captured, strict=True)]
        spaces = {memory._block.space for memory in used}
        return (
            len(spaces) < len(used)
            or HOST_SPACE in spaces
            or HOST_SPACE in self._outside
            or not self._outside.keys().isdisjoint([memory._block.space for memory in given])
        )

    def _check_sharing(self, name: str, memory: Memory, bindings: list[Memory | None]) -> None:
        nbytes, is_written = self._needs[name].nbytes, self._needs[name].is_written
        for (other, needs), binding in zip(self._needs.items(), bindings, strict=True):
            its = needs.slot.memory if binding is None else binding
            if other != name and (is_written or needs.is_written) and _share(memory, nbytes, its, 0, needs.nbytes):
                written = name if is_written else other
                message = f"graph.launch: {name} shares bytes with the memory of slot {other}, and {written} is written; give memories that do not overlap"
                raise ValueError(message)
        space = memory._block.space
        for its_space, spans in self._outside.items():
            for span in spans if space == its_space or HOST_SPACE in (space, its_space) else ():
                if (is_written or span.is_written) and _share(memory, nbytes, span.memory, span.lo, span.hi):
                    written = name if is_written else span.name
                    message = f"graph.launch: {name} shares bytes with the captured memory of {span.name}, and {written} is written; give another memory"
                    raise ValueError(message)


def overlapping(first: Memory, second: Memory) -> bool:
    """Say whether two memories share a byte."""
    return _share(first, first.nbytes, second, 0, second.nbytes)


def _share(memory: Memory, nbytes: int, other: Memory, lo: int, hi: int) -> bool:
    """Say whether the first bytes of a memory share one with bytes [lo, hi) of another."""
    distance = memory._distance_to(other)
    return distance is not None and distance + lo < nbytes and distance + hi > 0 and lo < hi and nbytes > 0


def _slot_of(span: _Span, memories: Mapping[str, Memory]) -> tuple[str | None, int]:
    """Return the slot that an operand lies in, and where its memory begins there; None if it lies in none."""
    for name, memory in memories.items():
        distance = memory._distance_to(span.memory)
        if distance is None or not _share(memory, memory.nbytes, span.memory, span.lo, span.hi):
            continue
        if distance >= 0 and distance + span.hi <= memory.nbytes:
            return name, distance
        message = (
            f"graph.slot: the memory of {span.name} begins at byte {distance} of slot {name}, which has {memory.nbytes}, "
            f"and bytes [{distance + span.lo}:{distance + span.hi}] are touched; name a memory that holds all of it"
        )
        raise ValueError(message)
    return None, 0


def _merged(spans: list[_Span]) -> list[_Span]:
    """Return fewer spans for the same bytes of one space, those that are written and those that are not."""
    merged: dict[tuple[int, bool], _Span] = {}
    done = []
    for span in sorted(spans, key=lambda span: span.memory.offset + span.lo):
        kind = id(span.memory._block), span.is_written
        last = merged.get(kind)
        if last is not None:
            shift = span.memory.offset - last.memory.offset
            if span.lo + shift <= last.hi:
                merged[kind] = last._replace(hi=max(last.hi, span.hi + shift))
                continue
            done.append(last)
        merged[kind] = span
    return [*done, *merged.values()]


def _spans(nodes: tuple[Node, ...]) -> Iterator[_Span]:
    for place, node in enumerate(nodes):
        if isinstance(node.what, str):
            alignment = len(node.scalars[0]) if node.what == "fill" else 1
            for operand, memory in enumerate(node.memories):
                name = f"{('dst', 'src')[operand]} of {node.what} (node {place})"
                yield _Span(memory, 0, memory.nbytes, not operand, alignment, name, place, operand)
            continue
        tensors = node.what.descriptor.tensors
        if len(node.memories) > len(tensors):
            name = f"{SCRATCH.name} of {node.what} (node {place})"
            alignment = node.what.device.info.alignment
            yield _Span(node.memories[-1], 0, node.scratch_nbytes, True, alignment, name, place, len(tensors))  # noqa: FBT003
        for operand, ((role, spec), memory) in enumerate(zip(tensors, node.memories, strict=False)):
            if spec is not None:
                size, name = spec.itemsize, f"{role.name} of {node.what} (node {place})"
                yield _Span(memory, spec.lo * size, spec.hi * size, role.is_written, size, name, place, operand)
