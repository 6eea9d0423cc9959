"""Captures: the verbs that they record and refuse, how streams join them and how they end."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np
from ep.plugin.capabilities import how

import ep
from ep_conformance.fixture.gate import late
from ep_conformance.fixture.kernel import kernel_of
from ep_conformance.fixture.order import Order
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_conformance.fixture.trial import Trial


@case()
def uncapturable_verbs_are_refused_at_once(trial: Trial) -> None:
    """Host transfers, waits and queries of the host raise ValueError that names them; stream and capture go on."""
    for stream in trial.streams():
        content = trial.noise(64)
        x, out, host = trial.holding(stream, content), trial.memory(64), bytearray(64)
        with stream.capture() as ready:
            stream.copy(out, x)
        trial.closing(ready)
        verbs: dict[str, Callable[[], Any]] = {
            "upload": lambda: stream.upload(x, host),  # noqa: B023 - called before the loop goes on
            "download": lambda: stream.download(host, x),  # noqa: B023 - as above
            "allocate": lambda: stream.allocate(64),  # noqa: B023 - as above
            "free": lambda: stream.free(x),  # noqa: B023 - as above
            "call": lambda: stream.call(lambda: None),  # noqa: B023 - as above
            "synchronize": lambda: stream.synchronize(),  # noqa: B023, PLW0108 - as above
            "is_idle": lambda: stream.is_idle,  # noqa: B023 - as above
            "close": lambda: stream.close(),  # noqa: B023, PLW0108 - as above
            "graph": lambda: ready.launch(stream),  # noqa: B023 - as above
            "capture": lambda: stream.capture().__enter__(),  # noqa: B023 - as above; refused
        }
        with stream.capture() as graph:
            for name, verb in verbs.items():
                trial.refuses(f"{name} in a capture", ValueError, verb, name, stream.name)
            stream.copy(out, x)
        trial.closing(graph)
        trial.equal("len(graph.nodes)", len(graph.nodes), 1)
        graph.launch(stream)
        trial.same_bytes("out", trial.content(stream, out), content)
        trial.equal("the host buffer", bytes(host), bytes(64))


@case()
def stream_works_on_behind_a_capture(trial: Trial) -> None:
    """After the capture the stream's verbs run again, at once, and enqueue nothing into the graph."""
    for stream in trial.streams():
        content = trial.noise(64)
        x, out = trial.holding(stream, content), trial.memory(64)
        with stream.capture() as graph:
            stream.fill(x, b"\0")
        trial.closing(graph)
        stream.copy(out, x)
        trial.same_bytes("out", trial.content(stream, out), content)
        trial.equal("len(graph.nodes)", len(graph.nodes), 1)


@case()
def exception_ends_the_capture(trial: Trial) -> None:
    """An exception inside the block comes through, its graph cannot be launched, and all its streams work on."""
    stream, other = trial.asynchronous(), trial.asynchronous()
    content = trial.noise(64)
    x, out = trial.holding(stream, content), trial.memory(64)
    graphs = []

    def work() -> None:
        with stream.capture() as graph:
            graphs.append(graph)
            stream.fill(x, b"\0")
            other.wait(stream.record())
            other.fill(x, b"\1")
            raise ArithmeticError

    trial.refuses("the block", ArithmeticError, work)
    trial.refuses("the graph", ValueError, lambda: graphs[0].launch(stream), "launch", "exception")
    for each in (stream, other):
        each.copy(out, x)
        trial.same_bytes("out", trial.content(each, out), content)


@case()
def graph_waits_for_its_end(trial: Trial) -> None:
    """A graph cannot be launched on any stream before its capture has ended."""
    stream, other = trial.stream(), trial.stream()
    memory = trial.memory(8)
    with stream.capture() as graph:
        stream.fill(memory, b"\1")
        trial.refuses("a launch inside the capture", ValueError, lambda: graph.launch(other), "launch")
    trial.closing(graph)
    graph.launch(other)
    trial.same_bytes("memory", trial.content(other, memory), np.ones(8, np.uint8))


@case()
def streams_join_by_events(trial: Trial) -> None:
    """Work of streams that waited for a captured event is in the graph, in an order that every wait agrees with."""
    first, second, third = (trial.asynchronous() for _ in range(3))
    content = trial.noise(1000)
    x, out = trial.holding(first, content), trial.memory(2000)
    one, two = trial.memory(1000), trial.memory(1000)
    with first.capture() as graph:
        first.copy(one, x)
        begin = first.record()
        second.wait(begin)
        third.wait(begin)
        second.copy(two, one)
        third.copy(out[0:1000], one)
        third.wait(second.record())
        third.copy(out[1000:2000], two)
        first.wait(third.record())
        first.fill(one, b"\0")
    trial.closing(graph)
    trial.equal("len(graph.nodes)", len(graph.nodes), 5)
    for stream in (first, second, trial.stream()):
        stream.fill(out, b"\xee")
        graph.launch(stream)
        order = Order(("copy", third), ("fill", first), otherwise=0)
        trial.same_bytes("out", trial.content(stream, out), np.tile(content, 2), order)
        trial.same_bytes("one", trial.content(stream, one), np.zeros(1000, np.uint8))
    for stream in (second, third):
        stream.fill(out, b"\7")
        trial.same_bytes("out after the capture", trial.content(stream, out), np.full(2000, 7, np.uint8))


@case()
def unjoined_stream_is_refused(trial: Trial) -> None:
    """A capture whose own stream does not wait for the last work of one that joined ends with a ValueError."""
    stream, other = trial.asynchronous(), trial.asynchronous()
    memory = trial.holding(stream, trial.noise(64))
    for late_work in (False, True):

        def work(is_late: bool = late_work) -> None:  # noqa: FBT001 - binds the loop's value
            with stream.capture():
                other.wait(stream.record())
                if is_late:
                    stream.wait(other.record())
                other.fill(memory, b"\1")

        trial.refuses("the end of the capture", ValueError, work, other.name)
    for each in (stream, other):
        each.fill(memory, b"\2")
        trial.same_bytes("memory", trial.content(each, memory), np.full(64, 2, np.uint8))


@case()
def events_from_outside_are_refused(trial: Trial) -> None:
    """A captured stream waits for no event of before the capture, whoever's it is, and nothing waits for captured ones later."""
    stream, other = trial.asynchronous(), trial.asynchronous()
    events = [stream.record(), other.record()]
    with stream.capture() as graph:
        for event in events:
            trial.refuses("an event from outside", ValueError, lambda: stream.wait(event), "wait")  # noqa: B023 - called at once
        inside = stream.record()
    trial.closing(graph)
    for each in (stream, other):
        trial.refuses("a captured event", ValueError, lambda: each.wait(inside), "wait", "capture")  # noqa: B023 - called at once
    graph.launch(stream)
    stream.wait(other.record())
    stream.synchronize()


@case()
def captured_events_cannot_be_queried(trial: Trial) -> None:
    """The host's questions to an event of a capture are ValueErrors, inside the capture and after it."""
    stream = trial.stream()
    with stream.capture() as graph:
        event = stream.record()
        trial.refuses("event.is_done", ValueError, lambda: event.is_done, "capture")
    trial.closing(graph)
    graph.launch(stream)
    trial.refuses("event.is_done", ValueError, lambda: event.is_done, "capture")
    trial.refuses("event.synchronize()", ValueError, event.synchronize, "capture")
    if stream.is_timed:
        timed = stream.record(timed=True)
        trial.refuses("seconds_since", ValueError, lambda: timed.seconds_since(event))


@case(kernels=True)
def steps_are_captured(trial: Trial) -> None:
    """A bound step in a capture becomes a node with its memories, which slots rebind; the step may then be closed."""
    kernel, size, stream = kernel_of(trial), 129, trial.asynchronous()
    data = kernel.data(trial, size)
    x, out = trial.holding(stream, data.view(np.uint8)), trial.memory(4 * size)
    step = kernel.descriptor(size).on(trial.device).bind(**{kernel.operand: x, "out": out})
    with stream.capture() as graph:
        step(stream)
    trial.closing(graph)
    step.close()
    graph.slot("x", x)
    graph.launch(stream)
    kernel.check("the step's memories", size, data, trial.content(stream, out))
    other = kernel.data(trial, size)
    graph.launch(stream, x=trial.holding(stream, other.view(np.uint8)))
    kernel.check("a memory given for the step's", size, other, trial.content(stream, out))


@case(kernels=True)
def in_place_nodes_are_captured(trial: Trial) -> None:
    """Kernels whose output is their input run in place at each launch, and in place in the memory given."""
    kernel, size, stream = kernel_of(trial), 77, trial.asynchronous()
    descriptor = kernel.descriptor(size)
    if not descriptor.roles[descriptor.operands.index(kernel.operand)].shares:
        return
    data = kernel.data(trial, size)
    memory = trial.holding(stream, data.view(np.uint8))
    with stream.capture() as graph:
        descriptor.on(trial.device)(stream, **{kernel.operand: memory, "out": memory})
    trial.closing(graph)
    graph.slot("m", memory)
    other = kernel.data(trial, size)
    given = trial.holding(stream, other.view(np.uint8))
    graph.launch(stream, m=given)
    kernel.check("in place in the memory given", size, other, trial.content(stream, given))
    trial.same_bytes("the captured memory", trial.content(stream, memory), data.view(np.uint8))
    graph.launch(stream)
    kernel.check("in place", size, data, trial.content(stream, memory))


@case(kernels=True)
def numbers_are_kept(trial: Trial) -> None:
    """Numbers of launches and patterns of fills are those of the capture, even after other launches."""
    stream, out = trial.asynchronous(), trial.memory(96)
    fill = _number_fill(trial)
    step = None if fill is None else fill.bind(value=1.25, out=out[64:96])
    with stream.capture() as graph:
        stream.fill(out[0:32], b"ab")
        if fill is not None and step is not None:
            fill(stream, value=2.5, out=out[32:64])
            step(stream)
    trial.closing(graph)
    stream.fill(out, b"cd")
    if fill is not None and step is not None:
        step.close()
        fill(stream, value=-7.0, out=out[32:64])
    graph.launch(stream)
    content = trial.content(stream, out)
    trial.same_bytes("the fill", content[:32], np.tile(np.frombuffer(b"ab", np.uint8), 16))
    numbers = np.repeat(np.array([2.5, 1.25], np.float32), 8).view(np.uint8)
    needed = np.frombuffer(b"cd" * 32, np.uint8) if fill is None else numbers
    trial.same_bytes("the launch and the step with numbers", content[32:], needed)


@case()
def closed_memory_is_refused_inside(trial: Trial) -> None:
    """A closed memory in a capture is ClosedError at once, and the capture goes on."""
    stream, memory, closed = trial.stream(), trial.memory(16), trial.memory(16)
    closed.close()
    with stream.capture() as graph:
        trial.refuses("a copy from closed memory", ep.ClosedError, lambda: stream.copy(memory, closed))
        stream.fill(memory, b"\5")
    trial.closing(graph)
    graph.launch(stream)
    trial.same_bytes("memory", trial.content(stream, memory), np.full(16, 5, np.uint8))


@case()
def other_streams_are_not_captured(trial: Trial) -> None:
    """While one stream is captured, others run their work, memory is allocated and freed, and events are done."""
    stream, other = trial.asynchronous(), trial.asynchronous()
    old, new = trial.noise(1000), trial.noise(1000)
    memory = trial.memory(8)
    with stream.capture() as graph:
        target, held = late(trial, other, old, new)
        stream.fill(memory, b"\3")
        trial.device.allocate(1000).close()
        event = other.record()
        held.open()
        event.synchronize()
        trial.same_bytes("memory of another stream", trial.content(other, target), new)
        with contextlib.suppress(ep.UnsupportedError):
            trial.stream(synchronous=True).close()
    trial.closing(graph)
    trial.equal("len(graph.nodes)", len(graph.nodes), 1)


def _number_fill(trial: Trial) -> ep.Primitive | None:
    """Return a fill with a number over 8 float32, None where the device has none."""
    family = ep.families().get("fill")
    cell = (
        None
        if family is None
        else next((cell for cell in family.cells() if str(cell).startswith("fill/-/float32/dense")), None)
    )
    if family is None or cell is None or how(trial.device, family, cell) != "native":
        return None
    kind: Any = family.descriptor
    made: ep.Descriptor = kind(value=ep.Scalar("float32"), out=ep.TensorSpec("float32", (8,)))
    return made.on(trial.device)
