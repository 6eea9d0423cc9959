"""A Plan is a model made ready for inputs of certain shapes: segments, and between them values that the host reads."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep import TensorSpec
from ep_onnx.elements import narrowed
from ep_onnx.errors import LackingError, ModelError, room_for
from ep_onnx.segment import Segment, needed
from ep_onnx.trace import Trace
from ep_onnx.value import Buffer, Value, strided

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Inputs = Mapping[str, Array]
    Program = Callable[[Trace, Mapping[str, Value]], "list[Any]"]

__all__ = ["Plan"]

_MOST_ENDS: Final = 16


class _Point:
    """One step of a plan: a segment to launch, then either a value that the host reads, or the results.

    asked     : the value that the host reads; its content selects the next point; None at the end of the model
    memories  : of the buffers that are kept until later segments, by their numbers
    results   : at the end of the model its outputs
    carried   : at the end of the model, copies for the next run: where to and where from
    before    : the point before it, and the content that leads from there to this one; None for the first
    """

    def __init__(
        self, segment: Segment | None, asked: Value | None, results: list[Any] | None = None, node: str = ""
    ) -> None:
        self.segment = segment
        self.asked = asked
        self.results = results
        self.node = node
        self.carried: list[tuple[ep.Memory, ep.Memory]] = []
        self.before: tuple[_Point, bytes] | None = None
        self.following: dict[bytes, _Point] = {}
        self.memories: dict[int, ep.Memory] = {}


class Plan:
    """A model planned for one set of input shapes. Used by one thread at a time.

    program : writes the model's steps into a trace, and returns its outputs
    shapes  : of the inputs, by name
    upload  : returns the memory of a constant
    generator : returns the state of random numbers
    states  : of the inputs that a run finds as the run before left them: the memory, and which output it is from

    A run that comes to contents which no run before it had is planned from there on. The latest 16 ways through contents are kept.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - all that a plan stands on
        self,
        stream: ep.Stream,
        program: Program,
        upload: Callable[[Value], ep.Memory],
        shapes: Mapping[str, TensorSpec],
        states: Mapping[str, tuple[ep.Tensor, int]],
        generator: Callable[[], Value],
    ) -> None:
        self.stream = stream
        self.program = program
        self.upload = upload
        self.shapes = shapes
        self.states = states
        self.generator = generator
        self.memories: dict[str, ep.Memory] = {}
        self.first: _Point | None = None
        self._ends: dict[_Point, None] = {}

    def run(self, inputs: Inputs) -> list[Any]:
        """Return the outputs for inputs of the plan's shapes: arrays, lists for sequences, None for an absent value."""
        for name, memory in self.memories.items():
            self.stream.upload(memory, np.ascontiguousarray(inputs[name]))
        answers: list[Array] = []
        point, before = self.first, None
        while point is not None:
            if point.segment is not None:
                point.segment.launch()
            if point.asked is None:
                self._ends[point] = self._ends.pop(point, None)  # the latest is the last
                return self.ended(point)
            answers.append(self.look(point.asked, inputs))
            before, point = point, point.following.get(_key(answers[-1]))
        return _Extension(self, inputs, answers, before).outputs()

    @property
    def segments(self) -> list[Segment]:
        """All that was planned so far."""
        return [point.segment for point in self._points if point.segment is not None]

    @property
    def waits(self) -> list[str]:
        """The nodes that made the host wait for the device, because the rest of the plan depends on a content."""
        return [
            f"{point.node} depends on {point.asked}"
            for point in self._points
            if point.asked and not _is_input(point.asked)
        ]

    @property
    def _points(self) -> list[_Point]:
        found, left = [], [self.first] if self.first is not None else []
        while left:
            found.append(left.pop())
            left += found[-1].following.values()
        return found

    def close(self) -> None:
        """Let go of graphs and memories."""
        for segment in self.segments:
            segment.close()
        self.first = None
        self._ends.clear()

    def attach(self, point: _Point, before: _Point | None, content: Array | None) -> None:
        """Let a point follow another one for a content. The end that no run came to for the longest time goes if there are too many."""
        if before is None or content is None:
            self.first = point
        else:
            point.before = before, _key(content)
            before.following[point.before[1]] = point
            self._ends.pop(before, None)
        self._ends[point] = None
        if len(self._ends) > _MOST_ENDS:
            self._forget(next(iter(self._ends)))

    def _forget(self, point: _Point) -> None:
        """Let go of an end, and of all before it that leads nowhere else."""
        del self._ends[point]
        while point.before is not None and not point.following:
            if point.segment is not None:
                point.segment.close()
            point, content = point.before
            del point.following[content]

    def ended(self, point: _Point) -> list[Any]:
        """Return the outputs, None for those that are the next run's states, once these are where that finds them."""
        for target, source in point.carried:
            self.stream.copy(target, source)
        gone = {place for _, place in self.states.values()}
        assert point.results is not None
        found = []
        for place, each in enumerate(point.results):
            with room_for(f"output {place}"):
                found.append(None if place in gone else self._fetched(each))
        return found

    def look(self, value: Value, inputs: Inputs) -> Array:
        """Return the content of a value: of an input as it was given, else as the device has it."""
        buffer = value.buffer
        assert buffer is not None
        if buffer.source is not None:
            return _seen(np.ascontiguousarray(inputs[buffer.source]).reshape(-1), value.spec)
        return self._downloaded(value)

    def _downloaded(self, value: Value) -> Array:
        assert value.buffer is not None
        if not value.size:
            return np.empty(value.shape, _numpy(value.dtype))
        assert value.buffer.memory is not None
        return ep.Tensor(value.buffer.memory, value.spec).numpy(self.stream)

    def _fetched(self, results: Any) -> Any:
        if isinstance(results, list):
            return [self._fetched(each) for each in results]
        if not isinstance(results, Value):
            return results
        found = results.array.copy() if results.array is not None else self._downloaded(results)
        return found if results.element is None else narrowed(found, results.element)


class _Extension:
    """One run that is planned while it runs, from the first content on that no run before it had."""

    def __init__(self, plan: Plan, inputs: Inputs, answers: list[Array], before: _Point | None) -> None:
        self._plan = plan
        self._inputs = inputs
        self._answers = answers
        self._known = len(answers)
        self._asked = 0
        self._before = before
        self._path = _path(plan, answers)
        self._buffers: list[Buffer] = []
        self._trace = Trace(plan.stream.device, self)

    def outputs(self) -> list[Any]:
        """Plan and run the rest, and return the outputs."""
        plan = self._plan
        values = {}
        for name, spec in plan.shapes.items():
            buffer = self._trace.buffer(spec.nbytes, name)
            if name not in plan.memories:
                with room_for(f"input '{name}'"):
                    plan.memories[name] = plan.stream.device.allocate(spec.nbytes)
                if spec.nbytes:
                    plan.stream.upload(plan.memories[name], np.ascontiguousarray(self._inputs[name]))
            buffer.memory = plan.memories[name]
            values[name] = Value(spec, buffer)
        for name, (tensor, _) in plan.states.items():
            buffer = self._trace.buffer(tensor.spec.nbytes)
            buffer.memory = tensor.memory
            values[name] = Value(tensor.spec, buffer)
        results = plan.program(self._trace, values)
        after = self._succession(values, results)
        self._raise_lacking()
        segment = self._cut(after)
        if segment is not None:
            segment.launch()
        point = _Point(segment, None, results)
        for its, mine in after.items():
            if its.memory is not mine.memory:
                assert its.memory is not None
                assert mine.memory is not None
                point.carried.append((mine.memory, its.memory[: mine.nbytes]))
        self._attach(point)
        return plan.ended(point)

    def _succession(self, values: Mapping[str, Value], results: list[Any]) -> dict[Buffer, Buffer]:
        """Return the buffer of each state's next content, dense and its own, with the buffer of the state."""
        after = {}
        for name, (_, place) in self._plan.states.items():
            state, result = values[name], results[place]
            if not isinstance(result, Value) or (result.shape, result.dtype) != (state.shape, state.dtype):
                message = f"state '{name}' is {state.spec!r}, and the output that is to be the next one is {result}; give states that keep their shape"
                raise ModelError(message)
            mine, its = state.buffer, result.buffer
            assert mine is not None
            if its is mine and result.spec == state.spec:
                continue
            is_own = its is not None and its.memory is None and result.spec == TensorSpec(result.dtype, result.shape)
            if not is_own or its in after:
                results[place] = result = self._trace.copy(result)
            assert result.buffer is not None
            after[result.buffer] = mine
        gone, changed = {place for _, place in self._plan.states.values()}, set(after.values())
        for place, result in enumerate(results):
            results[place] = result if place in gone else self._apart(result, changed)
        return after

    def _apart(self, result: Any, changed: set[Buffer]) -> Any:
        """Return an output, copied where it is seen in a state that changes before it is downloaded."""
        if isinstance(result, list):
            return [self._apart(each, changed) for each in result]
        return self._trace.copy(result) if isinstance(result, Value) and result.buffer in changed else result

    def generator(self) -> Value:
        """Return the state of random numbers, one for all plans of a session."""
        return self._plan.generator()

    def made(self, buffer: Buffer) -> None:
        """Keep a buffer; one of steps that ran already has the memory that they wrote."""
        self._buffers.append(buffer)
        if self._asked < self._known:
            for point in self._path:
                buffer.memory = point.memories.get(buffer.number, buffer.memory)

    def ask(self, value: Value) -> Array:
        """Return a content: as read before in this run, else from the input, else after a run of all steps so far."""
        self._asked += 1
        if self._asked <= self._known:
            if self._path[self._asked - 1].segment is not None or not _is_input(value):
                self._trace.steps.clear()
            return self._answers[self._asked - 1]
        self._raise_lacking()
        segment = None if _is_input(value) else self._cut()
        node = self._trace.node
        point = _Point(segment, value, node=node.title if node is not None else "")
        point.memories = {buffer.number: buffer.memory for buffer in self._buffers if buffer.memory is not None}
        if segment is not None:
            segment.launch()
        self._attach(point)
        answer = self._plan.look(value, self._inputs)
        self._answers.append(answer)
        return answer

    def _attach(self, point: _Point) -> None:
        self._plan.attach(point, self._before, self._answers[-1] if self._answers else None)
        self._before = point

    def _cut(self, after: Mapping[Buffer, Buffer] | None = None) -> Segment | None:
        """Return the steps so far that are needed as a segment; every buffer that is used after it has a memory of its own."""
        kept = {buffer for buffer in self._buffers if buffer.values and buffer.nbytes}
        steps, self._trace.steps = needed(self._trace.steps, kept), []
        self._buffers = [buffer for buffer in self._buffers if buffer.values]
        return Segment(self._plan.stream, steps, kept, self._plan.upload, after) if steps else None

    def _raise_lacking(self) -> None:
        lacking = self._trace.lacking
        if not lacking:
            return
        nodes: dict[str, list[str]] = defaultdict(list)
        for node, cell in lacking:
            nodes[cell].append(node)
        device = self._plan.stream.device.name
        lines = [
            f"{device} lacks what the model needs, as follows; take another device, or let its provider claim these cells"
        ]
        for cell, (first, *others) in nodes.items():
            more = f" and {len(others)} more" if others else ""
            lines.append(f"{first}{more}: {lacking[first, cell]}")
        raise LackingError("\n".join(lines), [f"{node}: {cell}" for node, cell in lacking], self._trace.steps)


def _is_input(value: Value) -> bool:
    return value.buffer is not None and value.buffer.source is not None


def _path(plan: Plan, answers: list[Array]) -> list[_Point]:
    """Return the points that a run passed that gave these answers."""
    path: list[_Point] = []
    point = plan.first
    for answer in answers:
        assert point is not None
        path.append(point)
        point = point.following.get(_key(answer))
    return path


def _key(content: Array) -> bytes:
    return content.tobytes()


def _numpy(dtype: str) -> Any:
    import ml_dtypes  # noqa: PLC0415 - rare

    return np.dtype(getattr(ml_dtypes, dtype, dtype))


def _seen(flat: Array, spec: TensorSpec) -> Array:
    """Return the elements of a host array that a spec describes, which may be of another type of the same size."""
    return strided(flat.view(_numpy(spec.dtype)), spec)
