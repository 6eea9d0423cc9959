"""Graphs: replay equals running; slots and bindings; the lifetimes of bindings and captured memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import ep
from ep_conformance.fixture.gate import gate, late
from ep_conformance.fixture.kernel import kernel_of
from ep_conformance.fixture.order import Order
from ep_conformance.fixture.together import together
from ep_conformance.fixture.work import settled
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Trial

_MANY = 1000


@case(kernels=True)
def replay_equals_running(trial: Trial) -> None:
    """A captured kernel between copies runs at each launch, and not before, on the contents of that moment."""
    kernel, size = kernel_of(trial), 1023
    for stream in trial.streams():
        x, y, out = (trial.memory(4 * size) for _ in range(3))
        untouched = trial.noise(4 * size)
        stream.upload(out, untouched)
        primitive = kernel.descriptor(size).on(trial.device)
        with stream.capture() as graph:
            primitive(stream, **{kernel.operand: x, "out": y})
            stream.copy(out, y)
        trial.closing(graph)
        trial.same_bytes("out after the capture", trial.content(stream, out), untouched)
        for launch in ("first", "second", "third"):
            data = kernel.data(trial, size)
            stream.upload(x, data)
            graph.launch(stream)
            kernel.check(f"the {launch} launch", size, data, trial.content(stream, out))


@case()
def random_programs_replay(trial: Trial) -> None:
    """A long random program of fills and copies between odd offsets ends as the model says, twice."""
    content = trial.noise(4096)
    stream = trial.asynchronous()
    memory = trial.holding(stream, content)
    steps = []
    with stream.capture() as graph:
        for _ in range(_MANY):
            length = int(trial.rng.integers(1, 512))
            at, to = (int(place) for place in trial.rng.integers(0, 1536, 2))
            if trial.rng.integers(3):
                stream.copy(memory[2048 + to : 2048 + to + length], memory[at : at + length])
                steps.append((2048 + to, at, length))
                stream.copy(memory[at : at + length], memory[2048 + at : 2048 + at + length])
                steps.append((at, 2048 + at, length))
            else:
                value = int(trial.rng.integers(256))
                stream.fill(memory[to : to + length], bytes([value]))
                steps.append((to, -value - 1, length))
    trial.closing(graph)
    for _ in range(2):
        graph.launch(stream)
        for to, at, length in steps:
            content[to : to + length] = -at - 1 if at < 0 else content[at : at + length]
        trial.same_bytes("memory", trial.content(stream, memory), content)


@case()
def launches_are_ordered_with_their_stream(trial: Trial) -> None:
    """Uploads, launches of a graph and copies alternate on one stream, each seeing the results of those before it."""
    for stream in trial.streams():
        x, out = trial.memory(100), trial.memory(100)
        with stream.capture() as graph:
            stream.copy(out, x)
            stream.fill(x, b"\0")
        trial.closing(graph)
        contents = [trial.noise(100) for _ in range(20)]
        results = [trial.memory(100) for _ in contents]
        held = gate(trial, stream)
        for content, result in zip(contents, results, strict=True):
            stream.upload(x, content)
            graph.launch(stream)
            stream.copy(result, out)
        held.open()
        for content, result in zip(contents, results, strict=True):
            trial.same_bytes("the result of a launch", trial.content(stream, result), content)
        trial.same_bytes("x", trial.content(stream, x), np.zeros(100, np.uint8))


@case()
def launches_on_any_stream(trial: Trial) -> None:
    """A graph is launched on other streams than its own, in their order, also when its own is closed."""
    first = trial.stream()
    old, new = trial.noise(1000), trial.noise(1000)
    x, out = trial.memory(1000), trial.memory(1000)
    with first.capture() as graph:
        first.copy(out, x)
    trial.closing(graph)
    first.close()
    for stream in trial.streams():
        stream.upload(out, old)
        target, held = late(trial, stream, old, new)
        stream.copy(x, target)
        graph.launch(stream)
        reader = trial.stream()
        held.open_later()
        reader.wait(stream.record())
        trial.same_bytes("out", trial.content(reader, out), new)
        stream.synchronize()


@case()
def pending_work_is_not_captured(trial: Trial) -> None:
    """A capture that begins while work is under way takes none of it, and the work ends as it would have."""
    old, new = trial.noise(1000), trial.noise(1000)
    for stream in trial.streams():
        out = trial.holding(stream, old)
        target, held = late(trial, stream, old, new)
        with stream.capture() as graph:
            stream.copy(out, target)
        trial.closing(graph)
        held.open()
        trial.equal("len(graph.nodes)", len(graph.nodes), 1)
        trial.same_bytes("memory of the work before", trial.content(stream, target), new)
        trial.same_bytes("out before the launch", trial.content(stream, out), old)
        graph.launch(stream)
        trial.same_bytes("out", trial.content(stream, out), new)


@case(kernels=True)
def slots_rebind_kernels(trial: Trial) -> None:
    """Kernels read and write the memories given for their slots, at other offsets too; the captured ones stay as they are."""
    kernel, size = kernel_of(trial), 300
    stream = trial.asynchronous()
    data = kernel.data(trial, size)
    x, out = trial.holding(stream, data.view(np.uint8)), trial.memory(4 * size)
    untouched = trial.noise(4 * size)
    stream.upload(out, untouched)
    with stream.capture() as graph:
        kernel.descriptor(size).on(trial.device)(stream, **{kernel.operand: x, "out": out})
    trial.closing(graph)
    graph.slot("x", x)
    graph.slot("out", out)
    for offset in (0, 4, 64, 4 * size + 20):
        other, result = kernel.data(trial, size), trial.memory(12 * size)
        given = trial.holding(stream, np.concatenate([trial.noise(offset), other.view(np.uint8)]))
        graph.launch(stream, x=given[offset:], out=result[offset:])
        part = result[offset : offset + 4 * size]
        kernel.check(f"slots {offset} bytes into their memories", size, other, trial.content(stream, part))
    trial.same_bytes("the captured out", trial.content(stream, out), untouched)
    graph.launch(stream)
    kernel.check("the captured memories", size, data, trial.content(stream, out))


@case()
def slots_rebind_copies_and_fills(trial: Trial) -> None:
    """All operands that lie in a slot's memory move with it, each at its place."""
    stream, content = trial.asynchronous(), trial.noise(300)
    memory, out = trial.holding(stream, content), trial.memory(100)
    with stream.capture() as graph:
        graph.slot("m", memory)
        stream.copy(memory[201:299], memory[1:99])
        stream.fill(memory[100:116], b"\7\1")
        stream.copy(out[3:97], memory[150:244])
    trial.closing(graph)
    given = trial.noise(400)
    other = trial.holding(stream, given)
    graph.launch(stream, m=other[16:])
    model = given[16:316].copy()
    model[201:299] = model[1:99]
    model[100:116] = [7, 1] * 8
    trial.same_bytes("the memory given", trial.content(stream, other[16:316]), model)
    trial.same_bytes("bytes before it", trial.content(stream, other[:16]), given[:16])
    trial.same_bytes("bytes behind it", trial.content(stream, other[316:]), given[316:])
    trial.same_bytes("out", trial.content(stream, out[3:97]), model[150:244])
    trial.same_bytes("the captured memory", trial.content(stream, memory), content)


@case()
def slots_not_given_keep_the_captured_memory(trial: Trial) -> None:
    """Each slot alone may be given; an earlier launch's memory does not stay bound."""
    stream = trial.asynchronous()
    contents = {name: trial.noise(64) for name in ("captured", "given")}
    x, out = trial.holding(stream, contents["captured"]), trial.memory(64)
    other, result = trial.holding(stream, contents["given"]), trial.memory(64)
    with stream.capture() as graph:
        stream.copy(out, x)
    trial.closing(graph)
    graph.slot("x", x)
    graph.slot("out", out)
    for bindings, target, needed in (
        ({"x": other, "out": result}, result, "given"),
        ({}, out, "captured"),
        ({"x": other}, out, "given"),
        ({"out": result}, result, "captured"),
        ({}, out, "captured"),
    ):
        stream.fill(out, b"\0")
        stream.fill(result, b"\0")
        graph.launch(stream, **bindings)
        trial.same_bytes(f"launch with {sorted(bindings)}", trial.content(stream, target), contents[needed])


@case()
def bindings_of_launches_under_way_do_not_mix(trial: Trial) -> None:
    """Launches with different memories, enqueued at once on several busy streams, each use their own."""
    home = trial.stream()
    x, out = trial.memory(2000), trial.memory(2000)
    with home.capture() as graph:
        for at in range(0, 2000, 100):
            home.copy(out[at : at + 100], x[at : at + 100])
    trial.closing(graph)
    graph.slot("x", x)
    graph.slot("out", out)
    streams = [trial.asynchronous() for _ in range(3)]
    contents = [trial.noise(2000) for _ in range(12)]
    inputs = [trial.holding(home, content) for content in contents]
    results = [trial.memory(2000) for _ in contents]
    gates = [gate(trial, stream) for stream in streams]
    for place, (given, result) in enumerate(zip(inputs, results, strict=True)):
        graph.launch(streams[place % 3], x=given, out=result)
    for held in gates:
        held.open()
    for stream in streams:
        stream.synchronize()
    for content, result in zip(contents, results, strict=True):
        trial.same_bytes("the result of one of twelve launches", trial.content(home, result), content)


@case(kernels=True)
def threads_launch_one_graph(trial: Trial) -> None:
    """Four threads launch one graph on streams of their own, with memories of their own."""
    kernel, size = kernel_of(trial), 515
    home = trial.stream()
    x, out = trial.memory(4 * size), trial.memory(4 * size)
    with home.capture() as graph:
        kernel.descriptor(size).on(trial.device)(home, **{kernel.operand: x, "out": out})
    trial.closing(graph)
    graph.slot("x", x)
    graph.slot("out", out)
    streams = [trial.asynchronous() for _ in range(4)]
    data = [kernel.data(trial, size) for _ in streams]
    inputs = [trial.holding(home, values.view(np.uint8)) for values in data]
    results = [trial.memory(4 * size) for _ in streams]

    def work(place: int) -> None:
        for _ in range(25):
            streams[place].fill(results[place], b"\0")
            graph.launch(streams[place], x=inputs[place], out=results[place])
        streams[place].synchronize()

    together(4, work)
    for values, result in zip(data, results, strict=True):
        kernel.check("a launch from a thread", size, values, trial.content(home, result))


@case()
def wrong_bindings_are_refused(trial: Trial) -> None:
    """Unknown names, short, misplaced, closed and overlapping memories are refused by name, and nothing runs."""
    stream, content = trial.stream(), trial.noise(64)
    x, out, other = trial.memory(64), trial.holding(stream, content), trial.memory(256)
    with stream.capture() as graph:
        stream.copy(out[0:32], x[0:32])
        stream.fill(out[32:64], b"abcdefgh")
        stream.copy(other[0:32], out[0:32])
    trial.closing(graph)
    graph.slot("x", x)
    graph.slot("out", out)
    closed = trial.memory(64)
    closed.close()

    def refused(what: str, kind: type[Exception], *words: str, **given: ep.Memory) -> None:
        trial.refuses(what, kind, lambda: graph.launch(stream, **given), "launch", *words)

    big = trial.memory(256)
    refused("an unknown slot", ValueError, "y", "x", "out", y=big)
    refused("a short memory", ValueError, "out", "63", "64", out=big[:63])
    refused("no memory", TypeError, "x", x=bytearray(64))  # type: ignore[arg-type]
    refused("an odd place for a fill", ValueError, "out", "8", out=big[4:])
    refused("a closed memory", ep.ClosedError, "x", x=closed)
    refused("two slots that share bytes", ValueError, "x", "out", x=big[0:64], out=big[56:120])
    refused("a slot that shares bytes with a captured one", ValueError, "x", "out", x=out)
    refused("a slot that shares bytes with what is captured", ValueError, "out", "written", out=other)
    trial.same_bytes("out", trial.content(stream, out), content)
    graph.launch(stream, x=big[0:64], out=big[64:128])
    stream.synchronize()


@case()
def wrong_slots_are_refused(trial: Trial) -> None:
    """Names twice, overlapping slots, late slots, and operands that lie in a slot in part are refused."""
    stream, memory, out = trial.stream(), trial.memory(64), trial.memory(64)
    with stream.capture() as graph:
        stream.copy(out[0:16], memory[0:16])
    trial.closing(graph)
    graph.slot("x", memory)
    trial.refuses("a name twice", ValueError, lambda: graph.slot("x", out), "x")
    trial.refuses("overlapping slots", ValueError, lambda: graph.slot("y", memory[32:64]), "x", "y")
    graph.launch(stream)
    trial.refuses("a slot after the first launch", ValueError, lambda: graph.slot("late", out), "late")
    with stream.capture() as cut:
        stream.copy(out[0:16], memory[0:16])
    trial.closing(cut)
    cut.slot("half", memory[8:64])
    trial.refuses("an operand in part", ValueError, lambda: cut.launch(stream), "half", "copy")
    stream.synchronize()


@case()
def memory_is_held_until_the_graph_is_gone(trial: Trial) -> None:
    """Memory closed after the capture is still there for launches, and comes back when the graph is closed."""
    stream, content = trial.asynchronous(), trial.noise(5000)
    x, out = trial.device.allocate(5000), trial.memory(5000)
    stream.upload(x, content)
    with stream.capture() as graph:
        stream.copy(out, x)
    before = settled(trial).in_use
    x.close()
    trial.equal("bytes in use once a memory of the graph is closed", settled(trial).in_use, before)
    for _ in range(8):
        stream.fill(trial.memory(5000), b"\xaa")
    graph.launch(stream)
    before = settled(trial).in_use
    graph.close()
    graph.close()
    given_back = before - settled(trial).in_use
    trial.require(given_back >= x.nbytes, f"{given_back} bytes came back with the graph, needed at least {x.nbytes}")
    trial.same_bytes("out", trial.content(stream, out), content)
    trial.refuses("a closed graph", ep.ClosedError, lambda: graph.launch(stream), "closed")


@case()
def graph_closed_with_launches_under_way_ends_them(trial: Trial) -> None:
    """close() of a graph and its memories lets enqueued launches end, and their bytes are not given away before."""
    for stream in trial.streams():
        content = trial.noise(50_000)
        x, out = trial.device.allocate(content.nbytes), trial.memory(content.nbytes)
        stream.upload(x, content)
        with stream.capture() as graph:
            stream.copy(out, x)
        graph.slot("x", x)
        held = gate(trial, stream)
        graph.launch(stream)
        graph.close()
        x.close()
        other = trial.stream()
        for _ in range(4):
            other.fill(trial.memory(content.nbytes), b"\xaa")
        other.synchronize()
        held.open()
        order = Order(("graph", stream), ("the next owner's fill", None), otherwise=0xAA)
        trial.same_bytes("out", trial.content(stream, out), content, order)


@case()
def empty_graph_launches(trial: Trial) -> None:
    """A capture of nothing is launched like any other, and an event after it is done in order."""
    for stream in trial.streams():
        with stream.capture() as graph:
            pass
        trial.closing(graph)
        old, new = trial.noise(100), trial.noise(100)
        target, held = late(trial, stream, old, new)
        graph.launch(stream)
        event = stream.record()
        held.open_later()
        event.synchronize()
        trial.same_bytes("memory", trial.content(trial.stream(), target), new)


@case(kernels=True)
def empty_outputs_are_captured(trial: Trial) -> None:
    """A launch whose output has no elements is captured and launched, between others, without touching anything."""
    kernel, stream = kernel_of(trial), trial.stream()
    empty, x, out = trial.memory(0), trial.noise(10), trial.memory(10)
    source = trial.holding(stream, x)
    with stream.capture() as graph:
        kernel.descriptor(0).on(trial.device)(stream, **{kernel.operand: empty, "out": empty})
        stream.copy(out, source)
    trial.closing(graph)
    graph.slot("empty", empty)
    graph.slot("source", source)
    graph.launch(stream, empty=trial.memory(0))
    trial.same_bytes("out", trial.content(stream, out), x)
