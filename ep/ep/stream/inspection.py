"""Checks of contents under EP_VALIDATE=1: tensors that a descriptor inspects are downloaded before its launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ep.exchange.arrays import array_dtype
from ep.stream.graph import Graph
from ep.stream.slots import overlapping
from ep.work.executable import moved
from ep.work.primitive import Primitive
from ep.work.step import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep import spi
    from ep.layout.spec import TensorSpec
    from ep.memory.memory import Memory
    from ep.stream.doors import Onward
    from ep.stream.stream import Stream
    from ep.work.executable import Bindings

__all__ = ["inspect"]


class _Inspected(NamedTuple):
    """A launch whose descriptor inspects operands.

    where : the beginning of messages, before the descriptor's own words
    """

    primitive: Primitive
    operands: dict[str, Memory]
    where: str = ""


def inspect(stream: Stream, onward: Onward, what: Any, memories: tuple[Memory, ...], rest: Any) -> None:
    """Let descriptors check the contents of the operands that they inspect, before their launch is enqueued.

    onward  : the door after validation; the contents are downloaded through it, in stream order, and the host waits
    rest    : of a graph's launch the memories that it gives for the slots

    Raises ValueError for contents that an operation is not meant for. If the stream's earlier work failed, contents
    mean nothing: the launch goes on, and the next synchronisation raises the failure.
    """
    if isinstance(what, Primitive):
        stream._admit(what, memories)
        launches = _of_launch(what, what._placed(memories))
    elif isinstance(what, Step):
        what._require_open()
        launches = _of_launch(what.primitive, what.primitive._placed(what.memories))
    elif isinstance(what, Graph):
        launches = _of_graph(what, rest)
    else:
        return
    for primitive, operands, where in launches:
        specs = {role.name: spec for role, spec in primitive.asked.tensors}
        contents = {
            name: _content(stream, onward, cast("TensorSpec", specs[name]), memory) for name, memory in operands.items()
        }
        if stream._failure.error is not None:
            return
        try:
            primitive.asked.check_contents(contents)
        except ValueError as error:
            message = f"{where}{error}"
            raise ValueError(message) from None


def _of_launch(primitive: Primitive, memories: tuple[Memory, ...], where: str = "") -> Iterator[_Inspected]:
    tensors = zip(primitive.asked.tensors, memories, strict=False)  # behind them there may be scratch
    operands = {role.name: memory for (role, spec), memory in tensors if role.is_inspected and spec is not None}
    if operands:
        yield _Inspected(primitive, operands, where)


def _of_graph(graph: Graph, bindings: Bindings) -> Iterator[_Inspected]:
    """Yield the launches of a graph whose operands have their final contents already: no earlier node writes them."""
    given = _given(graph, bindings)
    written: list[Memory] = []
    for place, node in enumerate(graph.nodes):
        memories = tuple([given.get((place, operand), memory) for operand, memory in enumerate(node.memories)])
        if isinstance(node.what, str):
            written.append(memories[0])
            continue
        for launch in _of_launch(node.what, memories, f"graph.launch: node {place}: "):
            known = {
                name: memory
                for name, memory in launch.operands.items()
                if not any(overlapping(memory, other) for other in written)
            }
            if len(known) == len(launch.operands):
                yield launch
        tensors = zip(node.what.descriptor.tensors, memories, strict=False)  # as above
        written += [memory for (role, spec), memory in tensors if role.is_written and spec is not None]


def _given(graph: Graph, bindings: Bindings) -> dict[tuple[int, int], Memory]:
    """Return the memories that a launch gives in place of captured ones, by node and operand."""
    table, nodes = graph._table, graph.nodes
    changed: dict[tuple[int, int], Memory] = {}
    for slot, memory in zip(table.slots, bindings, strict=True) if table and bindings else ():
        for node, operand, offset in slot.places if memory is not None else ():
            changed[node, operand] = moved(nodes[node].memories[operand], memory, offset)
    return changed


def _content(stream: Stream, onward: Onward, spec: TensorSpec, memory: Memory) -> Any:
    """Return a tensor as the launch would find it, a NumPy array over bytes of its own."""
    import numpy as np  # noqa: PLC0415 - only validation needs it, and `import ep` must not

    dtype = array_dtype(spec.dtype)
    if not spec.size:
        return np.empty(spec.shape, dtype)
    # A memory that was closed is held by a step or a graph: no view can be made of it, and it is as good as open.
    part = memory if memory.is_closed else memory[: spec.nbytes]
    view = memoryview(bytearray(part.nbytes))
    onward(stream, "download", (), (part, view), _download)
    stream._progress.hold(stream, view)
    stream._outlast()
    strides = [stride * spec.itemsize for stride in spec.strides]
    return np.ndarray(spec.shape, dtype, view, spec.offset * spec.itemsize, strides)


def _download(twin: spi.Stream, _: tuple[Memory, ...], scalars: tuple[Any, ...]) -> None:
    memory, view = scalars
    twin.copy(view, memory, memory.nbytes)
