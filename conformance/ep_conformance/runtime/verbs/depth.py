"""Depth: what goes wrong after many. All of it is enqueued behind a gate, so that nothing ends before everything is there."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_conformance.fixture.gate import gate
from ep_conformance.fixture.kernel import kernel_of
from ep_conformance.fixture.order import Order
from ep_conformance.fixture.rows import Launches, check_rows, numbered
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Trial

_LAUNCHES: Final = 10_000
_COPIES: Final = 10_000
_EVENTS: Final = 5000
_NUMBERS: Final = 5000
_CALLS: Final = 2000
_TRANSFERS: Final = 2000
_STEPS: Final = 1000
_MEMORIES: Final = 600
_GRAPHS: Final = 400
_WAITS: Final = 300
_STREAMS: Final = 64
_DEADLINE_SECONDS: Final = 20.0
_OLD: Final = np.full(256, 0x0D, np.uint8)
_NEW: Final = np.full(256, 0x1E, np.uint8)


def _launches(trial: Trial, count: int) -> Launches:
    """Return launches of the device's kernel."""
    kernel = kernel_of(trial)
    return Launches(trial, kernel, count)


@case(kernels=True, since="1.1")
def launches(trial: Trial) -> None:
    """Of 10,000 launches that wait in a stream each reads and writes its own operands."""
    work, stream = _launches(trial, _LAUNCHES), trial.asynchronous()
    held = gate(trial, stream, is_deep=True)
    for number in range(_LAUNCHES):
        work.primitive(stream, **work.operands(number))
    held.open()
    stream.synchronize()
    work.check("launch")


@case(kernels=True, since="1.1")
def steps(trial: Trial) -> None:
    """Of 1,000 bound steps that are alive, run in another order, each reads and writes its own operands."""
    work = _launches(trial, _STEPS)
    bound = [trial.closing(work.primitive.bind(**work.operands(number))) for number in range(_STEPS)]
    stream = trial.asynchronous()
    held = gate(trial, stream, is_deep=True)
    for number in trial.rng.permutation(_STEPS):
        bound[number](stream)
    held.open()
    stream.synchronize()
    work.check("step")


@case(needs="fill/-/float32/dense", since="1.1")
def numbers(trial: Trial) -> None:
    """Of 5,000 launches with a number each, which wait in a stream, each gets its own."""
    kind: Any = ep.families()["fill"].descriptor
    fill = kind(value=ep.Scalar("float32"), out=ep.TensorSpec("float32", (4,))).on(trial.device)
    stream, memory = trial.asynchronous(), trial.memory(16 * _NUMBERS)
    held = gate(trial, stream, is_deep=True)
    for number in range(_NUMBERS):
        fill(stream, value=float(number), out=memory[16 * number : 16 * number + 16])
    held.open()
    found = trial.content(stream, memory).reshape(_NUMBERS, 16)
    needed = np.repeat(np.arange(_NUMBERS, dtype=np.float32), 4).view(np.uint8).reshape(_NUMBERS, 16)
    check_rows(trial, "launch with number", found, needed)


@case(since="1.1")
def copies(trial: Trial) -> None:
    """Of 10,000 copies and fills that wait in a stream none is lost, and each moves its own bytes in its turn."""
    stream, rows = trial.asynchronous(), numbered(_COPIES // 2)
    source, target = trial.holding(stream, rows.reshape(-1)), trial.memory(rows.nbytes)
    held = gate(trial, stream, is_deep=True)
    for at in range(0, rows.nbytes, 64):
        stream.fill(target[at : at + 64], b"\xee")
        stream.copy(target[at : at + 60], source[at : at + 60])
    held.open()
    needed = rows.copy()
    needed[:, 60:] = 0xEE
    check_rows(trial, "copy", trial.content(stream, target).reshape(rows.shape), needed)


@case(since="1.1")
def uploads(trial: Trial) -> None:
    """Of 2,000 uploads that wait in a stream, half of them of constant buffers, each brings its own; nobody else keeps them."""
    stream, rows = trial.asynchronous(), numbered(_TRANSFERS)
    memory = trial.memory(rows.nbytes)
    held = gate(trial, stream, is_deep=True)
    for place, row in enumerate(rows):
        stream.upload(memory[64 * place : 64 * place + 64], row.copy(), constant=place % 2 == 0)
    held.open()
    check_rows(trial, "upload", trial.content(stream, memory).reshape(rows.shape), rows)


@case(since="1.1")
def downloads(trial: Trial) -> None:
    """Of 2,000 downloads that wait in a stream each takes its own bytes to its own buffer, and none before its turn."""
    stream, rows = trial.asynchronous(), numbered(_TRANSFERS)
    memory, found = trial.holding(stream, rows.reshape(-1)), np.zeros_like(rows)
    held = gate(trial, stream, is_deep=True)
    for place, row in enumerate(found):
        stream.download(row, memory[64 * place : 64 * place + 64])
    early = held.linger(lambda: bool(found.any()))
    held.open()
    trial.require(not early, "nothing is downloaded by a stream that is held back")
    stream.synchronize()
    check_rows(trial, "download", found, rows)


@case(since="1.1")
def calls(trial: Trial) -> None:
    """Of 2,000 functions that wait in a stream each is called once, in their order."""
    stream = trial.asynchronous()
    seen: list[int] = []
    held = gate(trial, stream, is_deep=True)
    for place in range(_CALLS):
        stream.call(functools.partial(seen.append, place))
    held.open()
    stream.synchronize(_DEADLINE_SECONDS)
    trial.equal(f"the order of {_CALLS} calls", seen, list(range(_CALLS)))


@case(since="1.1")
def events(trial: Trial) -> None:
    """Of 5,000 events that are alive, half behind one gate and half behind two, each is done when its own work is, and not before."""
    stream, reader, rows = trial.asynchronous(), trial.stream(), numbered(_EVENTS)
    memory, source = trial.memory(rows.nbytes), trial.holding(reader, rows.reshape(-1))
    first, made, half = gate(trial, stream, is_deep=True), [], _EVENTS // 2
    for place in range(_EVENTS):
        if place == half:
            second = gate(trial, stream)
        stream.copy(memory[64 * place : 64 * place + 64], source[64 * place : 64 * place + 64])
        made.append(stream.record())
    early = [place for place, event in enumerate(made) if event.is_done and first.is_shut]
    trial.equal("events that are done before the first gate opens", early, [])
    first.open()
    made[half - 1].synchronize(_DEADLINE_SECONDS)
    done = trial.content(reader, memory).reshape(rows.shape)
    check_rows(trial, "copy before a done event", done[:half], rows[:half])
    trial.require(all(event.is_done for event in made[:half]), "events before a done one are done")
    early = [place for place, event in enumerate(made[half:], half) if event.is_done and second.is_shut]
    trial.equal("events that are done before the second gate opens", early, [])
    second.open()
    for place in trial.rng.permutation(_EVENTS):
        made[place].synchronize(_DEADLINE_SECONDS)
    check_rows(trial, "copy before an event", trial.content(reader, memory).reshape(rows.shape), rows)


@case(since="1.1")
def waits(trial: Trial) -> None:
    """A stream that waits for 300 events comes after each, be the last to be done the first waited for, one of the middle, or the last."""
    last, others, reader = trial.asynchronous(), trial.asynchronous(), trial.stream()
    for place in (0, _WAITS // 2, _WAITS - 1):
        stream, memory = trial.asynchronous(), trial.holding(reader, _OLD)
        shut, held = gate(trial, last), gate(trial, others)
        decisive = last.record()
        made = [others.record() for _ in range(_WAITS - 1)]
        for event in (*made[:place], decisive, *made[place:]):
            stream.wait(event)
        stream.fill(memory, b"\x1e")
        held.open()
        made[-1].synchronize(_DEADLINE_SECONDS)
        shut.hold_back(stream)
        order = Order(("call", last), ("fill", stream), otherwise=_NEW)
        stream.synchronize(_DEADLINE_SECONDS)
        trial.same_bytes(f"memory behind {_WAITS} waits", trial.content(reader, memory), _NEW, order)


@case(since="1.1")
def streams(trial: Trial) -> None:
    """A value is carried through 64 streams by their events, in another order than that of their making."""
    made, content = [trial.asynchronous() for _ in range(_STREAMS)], trial.noise(256)
    order = [int(place) for place in trial.rng.permutation(_STREAMS)]
    memories = [trial.holding(made[0], _OLD) for _ in made]
    source = trial.holding(made[0], content)
    held = gate(trial, made[order[0]])
    before, event = source, None
    for place in order:
        if event is not None:
            made[place].wait(event)
        made[place].copy(memories[place], before)
        made[place].fill(memories[place][place : place + 1], b"\x1e")
        before, event = memories[place], made[place].record()
    held.hold_back(*(made[place] for place in order[1:]))
    for turn, place in enumerate(order):
        content[place] = 0x1E
        trial.same_bytes(
            f"what stream {turn} of {_STREAMS} wrote", trial.content(made[place], memories[place]), content
        )


@case(since="1.1")
def graphs(trial: Trial) -> None:
    """Of 400 graphs that are alive, launched in one order and again in another, each does its own work on its own and on given memory."""
    stream, rows = trial.asynchronous(), numbered(_GRAPHS)
    source, own, given = trial.holding(stream, rows.reshape(-1)), trial.memory(rows.nbytes), trial.memory(rows.nbytes)
    made = []
    for at in range(0, rows.nbytes, 64):
        with stream.capture() as graph:
            stream.copy(own[at : at + 60], source[at : at + 60])
            stream.fill(own[at + 60 : at + 64], b"\xee")
        graph.slot("out", own[at : at + 64])
        made.append(trial.closing(graph))
    held = gate(trial, stream, is_deep=True)
    for place in trial.rng.permutation(_GRAPHS):
        made[place].launch(stream)
    for place in trial.rng.permutation(_GRAPHS):
        made[place].launch(stream, out=given[64 * place : 64 * place + 64])
    held.open()
    needed = rows.copy()
    needed[:, 60:] = 0xEE
    for what, memory in (("graph", own), ("graph with memory given", given)):
        check_rows(trial, what, trial.content(stream, memory).reshape(rows.shape), needed)


@case(since="1.1")
def closed_memories(trial: Trial) -> None:
    """600 memories that are closed while a stream that is held back has yet to read them keep their bytes, whoever allocates."""
    stream, rows = trial.asynchronous(), numbered(_MEMORIES)
    target = trial.memory(rows.nbytes)
    memories = [trial.holding(stream, row) for row in rows]
    held = gate(trial, stream, is_deep=True)
    for place, memory in enumerate(memories):
        stream.copy(target[64 * place : 64 * place + 64], memory)
    for memory in memories:
        memory.close()
    other = trial.stream()
    for _ in range(_MEMORIES):
        other.fill(trial.memory(64), b"\xbd")
    other.synchronize()
    held.open()
    check_rows(trial, "closed memory", trial.content(stream, target).reshape(rows.shape), rows)
