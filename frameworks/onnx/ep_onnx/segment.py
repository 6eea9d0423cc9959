"""A Segment is a stretch of a plan that runs without the host: its steps in one graph, over one arena."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ep.layout.overlap import is_same
from ep.memory.scratch import packed
from ep.work.stage import Lifetime

from ep_onnx.errors import room_for
from ep_onnx.value import Buffer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import ep
    from ep_onnx.trace import Step
    from ep_onnx.value import Value

__all__ = ["Segment", "needed"]


class Segment:
    """Steps as one graph. Buffers not needed after it lie in one arena; with disjoint lifetimes they share bytes.

    steps : in the order in which they run, at least one; `needed` of them
    kept  : buffers that are read after the segment; each has a memory of its own
    upload : returns the memory of a constant
    after : for a buffer that is an input of the next run, the input's buffer: it lies there if nothing reads that later

    arena_nbytes   : of the arena, scratch of steps included
    needed_nbytes  : bytes of the same buffers and scratch without sharing
    """

    def __init__(
        self,
        stream: ep.Stream,
        steps: Sequence[Step],
        kept: set[Buffer],
        upload: Callable[[Value], ep.Memory],
        after: Mapping[Buffer, Buffer] | None = None,
    ) -> None:
        self._stream = stream
        self._after = after or {}
        self.steps = steps
        self._lives: dict[Buffer, Lifetime] = {}
        self._same: dict[Buffer, Buffer] = {}
        self._views: dict[Buffer, ep.Memory] = {}
        for place, step in enumerate(self.steps):
            for _, buffer in step.buffers:
                life = self._lives.setdefault(buffer, Lifetime(place, place, buffer.nbytes))
                life.last = place
        for buffer in self._lives:
            if buffer.content is not None and buffer.memory is None:
                with room_for(f"{self._first(buffer).node}, a constant of it"):
                    buffer.memory = upload(buffer.content)
        self._carry_on()
        for buffer in kept & self._lives.keys():
            if buffer.memory is None:
                with room_for(self._first(buffer).node):
                    buffer.memory = stream.device.allocate(buffer.nbytes)
        self._share_in_place()
        self._place()
        self.graph = self._captured()

    def launch(self) -> None:
        """Enqueue all steps."""
        self.graph.launch(self._stream)

    def apart(self) -> Iterator[tuple[Step, Callable[[], None]]]:
        """Yield each step with a function that runs it alone and waits for it, to be timed."""
        for place, step in enumerate(self.steps):
            bound = step.primitive.bind(**self._operands(place, step))

            def run(bound: ep.Step = bound) -> None:
                bound(self._stream)
                self._stream.synchronize()

            yield step, run

    def close(self) -> None:
        """Let go of graph and arena."""
        self.graph.close()

    def _share_in_place(self) -> None:
        """Let a step write an output over an operand that no later step reads, if the operation allows exactly that."""
        for place, step in enumerate(self.steps):
            taken: set[Buffer] = set()
            for mine, its in _pairs(step):
                if mine not in taken and self._is_free(mine, step, place) and self._is_new(its, place):
                    self._join(mine, its)
                    taken.add(mine)

    def _carry_on(self) -> None:
        """Let the last step that reads a state write its next content into the state's own memory."""
        for place, step in enumerate(self.steps):
            for mine, its in _pairs(step):
                if self._after.get(its) is mine and self._lives[its].first == place == self._lives[mine].last:
                    readers = [each for _, each in step.buffers if each is mine]
                    its.memory = mine.memory if len(readers) == 1 else None

    def _is_free(self, buffer: Any, step: Step, place: int) -> bool:
        """Say whether a step is the last to read a buffer, and reads it as one operand alone."""
        life = self._life(buffer)
        if life is None or life.last != place or life.first == place:
            return False
        return sum(self._life(each) is life for _, each in step.buffers) == 1

    def _is_new(self, buffer: Any, place: int) -> bool:
        life = self._life(buffer)
        return life is not None and life.first == place

    def _life(self, buffer: Any) -> Lifetime | None:
        """Return when a buffer of the arena is needed."""
        if not isinstance(buffer, Buffer) or buffer.memory is not None:
            return None
        return self._lives[self._root(buffer)]

    def _join(self, mine: Buffer, its: Buffer) -> None:
        root = self._root(mine)
        life, added = self._lives[root], self._lives.pop(self._root(its))
        life.last, life.nbytes = max(life.last, added.last), max(life.nbytes, added.nbytes)
        self._same[its] = root

    def _root(self, buffer: Buffer) -> Buffer:
        while buffer in self._same:
            buffer = self._same[buffer]
        return buffer

    def _place(self) -> None:
        roots = [buffer for buffer in self._lives if buffer.memory is None]
        scratches = [place for place, step in enumerate(self.steps) if step.primitive.scratch_nbytes]
        lives = [self._lives[buffer] for buffer in roots]
        lives += [Lifetime(place, place, self.steps[place].primitive.scratch_nbytes) for place in scratches]
        device = self._stream.device
        begins, self.arena_nbytes = packed(lives, device.info.alignment)
        self.needed_nbytes = sum(life.nbytes for life in lives)
        with room_for(f"the {len(self.steps)} steps that share their memory, most of it for {self._largest()}"):
            self._arena = device.allocate(self.arena_nbytes)
        self._at = {buffer: begins[place] for place, buffer in enumerate(roots)}
        self._scratch = {place: begins[len(roots) + number] for number, place in enumerate(scratches)}

    def _first(self, buffer: Buffer) -> Step:
        """Return the first step that touches a buffer."""
        return self.steps[self._lives[buffer].first]

    def _largest(self) -> str:
        """Return the node of the step with the most bytes."""
        return max(self.steps, key=lambda step: sum(buffer.nbytes for _, buffer in step.buffers)).node

    def _memory(self, buffer: Buffer) -> ep.Memory:
        if buffer.memory is not None:
            return buffer.memory
        begin = self._at[self._root(buffer)]
        return self._arena[begin : begin + buffer.nbytes]

    def _captured(self) -> ep.Graph:
        with self._stream.capture() as graph:
            for place, step in enumerate(self.steps):
                step.primitive(self._stream, **self._operands(place, step))
        return graph

    def _operands(self, place: int, step: Step) -> dict[str, Any]:
        """Return the operands of a step with memories in place of buffers, and its scratch."""
        operands = dict(step.operands)
        for name, each in operands.items():
            if isinstance(each, Buffer):
                if each not in self._views:
                    self._views[each] = self._memory(each)
                operands[name] = self._views[each]
        if place in self._scratch:
            begin = self._scratch[place]
            operands["scratch"] = self._arena[begin : begin + step.primitive.scratch_nbytes]
        return operands


def _pairs(step: Step) -> Iterator[tuple[Buffer, Buffer]]:
    """Yield each operand of a step with an output that may have its very bytes, if both are the same tensor."""
    descriptor = step.primitive.descriptor
    if descriptor is not step.primitive.asked:
        return
    for role in descriptor.roles:
        mine, spec = step.operands.get(role.name), descriptor.present.get(role.name)
        for name in role.shares:
            its, other = step.operands.get(name), descriptor.present.get(name)
            if isinstance(mine, Buffer) and isinstance(its, Buffer) and is_same(spec, other):  # type: ignore[arg-type]  # of buffers
                yield mine, its


def needed(steps: Sequence[Step], kept: set[Buffer]) -> list[Step]:
    """Return the steps without those that have no read results."""
    read, left = set(kept), []
    for step in reversed(steps):
        if any(writes and buffer in read for writes, buffer in step.buffers):
            read.update(buffer for _, buffer in step.buffers)
            left.append(step)
    return left[::-1]
