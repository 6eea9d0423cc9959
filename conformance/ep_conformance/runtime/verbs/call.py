"""Host functions in a stream: when they run, which work waits for them, and where their exceptions are raised."""

from __future__ import annotations

import functools
import gc
import re
import threading
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

import ep
from ep_conformance.fixture.gate import gate
from ep_conformance.fixture.order import Order
from ep_conformance.judge.error import CaseError
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_conformance.fixture.trial import Trial

_DEADLINE_SECONDS = 20.0


class _Own(Exception):  # noqa: N818 - a stranger's exception, which may be named anything
    """An exception of these cases alone."""


def _raiser(error: BaseException) -> Callable[[], object]:
    def fail() -> None:
        raise error

    return fail


@case()
def runs_once_and_in_order(trial: Trial) -> None:
    """Functions run once each, in the order of their stream."""
    for stream in trial.streams():
        seen: list[int] = []
        for place in range(100):
            stream.call(functools.partial(seen.append, place))
        stream.synchronize(_DEADLINE_SECONDS)
        trial.equal("the order of 100 calls", seen, list(range(100)))


@case()
def sees_the_work_before_it(trial: Trial) -> None:
    """When a function runs, earlier work is done: a download has arrived."""
    for stream in trial.streams():
        content, result, seen = trial.noise(100_000), np.zeros(100_000, np.uint8), []
        memory = trial.memory(content.nbytes)
        held = gate(trial, stream)
        stream.upload(memory, content)
        stream.download(result, memory)
        stream.call(lambda: seen.append(result.copy()))  # noqa: B023 - called in this turn of the loop
        held.open()
        stream.synchronize(_DEADLINE_SECONDS)
        order = Order(("download", stream), ("function", stream), otherwise=0)
        trial.same_bytes("what the function saw", seen[0], content, order)


@case()
def is_before_the_work_behind_it(trial: Trial) -> None:
    """Work after a function waits for it: an upload reads the bytes that the function has written."""
    for stream in trial.streams():
        source, content = np.zeros(5000, np.uint8), trial.noise(5000)
        memory = trial.memory(source.nbytes)
        held = gate(trial, stream)
        stream.call(lambda: np.copyto(source, content))  # noqa: B023 - called in this turn of the loop
        stream.upload(memory, source)
        held.open()
        stream.synchronize(_DEADLINE_SECONDS)
        order = Order(("function", stream), ("upload", stream), otherwise=0)
        trial.same_bytes("memory", trial.content(stream, memory), content, order)


@case()
def does_not_hold_up_the_host(trial: Trial) -> None:
    """On an asynchronous stream call() returns first; the function runs on another thread, when its turn comes."""
    stream, seen = trial.asynchronous(), []
    held = gate(trial, stream)
    stream.call(lambda: seen.append(threading.get_ident()))
    if held.holds:
        trial.require(not seen, "a function waits for the one before it")
        trial.require(not stream.is_idle, "a stream with a function to call is not idle")
    held.open()
    stream.synchronize(_DEADLINE_SECONDS)
    trial.equal("calls", len(seen), 1)
    trial.require(not held.holds or seen[0] != threading.get_ident(), "the function runs on another thread")


@case()
def holds_back_its_own_stream_alone(trial: Trial) -> None:
    """While a function of one stream runs, other streams do their work and call their functions."""
    first, others = trial.asynchronous(), [trial.asynchronous() for _ in range(2)]
    held = gate(trial, first)
    seen: list[int] = []
    for place, stream in enumerate(others):
        memory = trial.memory(1000)
        stream.fill(memory, bytes([place]))
        stream.call(functools.partial(seen.append, place))
        trial.same_bytes("memory", trial.content(stream, memory), np.full(1000, place, np.uint8))
    trial.equal("calls of the other streams", seen, [0, 1])
    trial.require(not (held.holds and first.is_idle), "the first stream is held back all the while")


@case()
def is_waited_for_across_streams(trial: Trial) -> None:
    """A stream that waits for an event after a function comes after that function."""
    first, second, seen = trial.asynchronous(), trial.asynchronous(), []
    held = gate(trial, first)
    first.call(lambda: seen.append("first"))
    event = first.record()
    second.wait(event)
    second.call(lambda: seen.append("second"))
    trial.require(not (held.holds and event.is_done), "the event after a function that has not run is not done")
    held.open()
    second.synchronize(_DEADLINE_SECONDS)
    trial.equal("the order of calls", seen, ["first", "second"])


@case()
def exception_is_raised_by_the_next_synchronisation(trial: Trial) -> None:
    """What a function raises is raised by synchronize(), as it is, once, with a note of stream and place."""
    for stream in trial.streams():
        error = _Own("of the function")
        stream.call(_raiser(error))
        try:
            stream.synchronize(_DEADLINE_SECONDS)
        except _Own as caught:
            trial.require(caught is error, "the exception that is raised is the function's own")
            notes = " ".join(getattr(caught, "__notes__", ()))
            trial.require(stream.name in notes and "call" in notes, f"its note {notes!r} names {stream.name} and call")
        else:
            message = "synchronize() after a function that raised: it raised nothing"
            raise CaseError(message)
        try:
            stream.synchronize(_DEADLINE_SECONDS)
        except _Own as again:
            message = "synchronize() raised the error that an earlier one had raised already"
            raise CaseError(message) from again


@case()
def exception_is_raised_by_an_event_behind_it(trial: Trial) -> None:
    """event.synchronize() raises an earlier function's exception, and the stream's synchronisation raises it, too."""
    stream = trial.asynchronous()
    stream.call(_raiser(_Own()))
    event = stream.record()
    trial.refuses("event.synchronize()", _Own, lambda: event.synchronize(_DEADLINE_SECONDS))
    trial.require(event.is_done, "the event is done")
    trial.refuses("stream.synchronize()", _Own, lambda: stream.synchronize(_DEADLINE_SECONDS))
    event.synchronize()


@case()
def exception_does_not_stop_the_stream(trial: Trial) -> None:
    """Work and functions after one that raised are done; of several exceptions the first is raised."""
    for stream in trial.streams():
        memory, seen = trial.memory(100), []
        stream.call(_raiser(_Own("first")))
        stream.fill(memory, b"\x11")
        stream.call(_raiser(_Own("second")))
        stream.call(lambda: seen.append(1))  # noqa: B023 - called in this turn of the loop
        trial.refuses("synchronize()", _Own, lambda: stream.synchronize(_DEADLINE_SECONDS), "first")  # noqa: B023
        trial.equal("calls after the exceptions", seen, [1])
        trial.same_bytes("memory", trial.content(stream, memory), np.full(100, 0x11, np.uint8))


@case()
def exception_stays_with_its_stream(trial: Trial) -> None:
    """A stream that waits for a failed one, and every other, synchronises without an error."""
    first, second = trial.asynchronous(), trial.asynchronous()
    first.call(_raiser(_Own()))
    second.wait(first.record())
    second.synchronize(_DEADLINE_SECONDS)
    trial.refuses("synchronize()", _Own, lambda: first.synchronize(_DEADLINE_SECONDS))


@case()
def exception_is_raised_by_close(trial: Trial) -> None:
    """close() raises a function's exception, and closes."""
    for stream in trial.streams():
        stream.call(_raiser(_Own()))
        trial.refuses("close()", _Own, stream.close)
        trial.require(stream.is_closed, "the stream is closed")


@case()
def may_not_use_ep(trial: Trial) -> None:
    """A function that waits, enqueues or allocates gets a ValueError that names call; the stream is not stuck by it."""
    for stream in trial.streams():
        other, memory, event = trial.stream(), trial.memory(64), trial.stream().record()
        attempts: tuple[Callable[[], Any], ...] = (
            stream.synchronize,
            lambda: other.fill(memory, b"\0"),  # noqa: B023 - called in this turn of the loop
            other.synchronize,
            event.synchronize,
            lambda: trial.device.allocate(64),
            trial.device.stream,
        )
        for attempt in attempts:
            stream.call(attempt)
            trial.refuses("EP used inside a function", ValueError, lambda: stream.synchronize(_DEADLINE_SECONDS), "call")  # noqa: B023  # fmt: skip
        other.fill(memory, b"\x22")
        trial.same_bytes("memory", trial.content(other, memory), np.full(64, 0x22, np.uint8))


@case()
def timeout_while_it_runs_leaves_all_usable(trial: Trial) -> None:
    """synchronize(timeout) of stream, event and device ends while a function does not; afterwards all goes on."""
    stream = trial.asynchronous()
    held = gate(trial, stream)
    memory, event = trial.memory(100), stream.record()
    if held.holds:
        for name, wait in (("stream", stream), ("event", event), ("device", trial.device)):
            trial.refuses(f"{name}.synchronize(0.02)", ep.TimeoutError, lambda wait=wait: wait.synchronize(0.02))  # type: ignore[misc]  # of this turn
    stream.fill(memory, b"\x33")
    held.open()
    event.synchronize(_DEADLINE_SECONDS)
    trial.same_bytes("memory", trial.content(stream, memory), np.full(100, 0x33, np.uint8))


@case()
def close_waits_for_it(trial: Trial) -> None:
    """stream.close() returns when the functions have run."""
    stream, seen = trial.asynchronous(), []
    held = gate(trial, stream)
    stream.call(lambda: seen.append(1))
    held.open_later()
    stream.close()
    trial.equal("calls after close()", seen, [1])


@case()
def is_kept_until_it_ran_and_no_longer(trial: Trial) -> None:
    """The stream keeps a function until it has run, and then lets go of it."""

    class Kept:
        """Something that a function needs."""

    stream, kept, seen = trial.asynchronous(), Kept(), []
    reference = weakref.ref(kept)
    held = gate(trial, stream)
    stream.call(lambda kept=kept: seen.append(kept is not None))  # type: ignore[misc]  # so that the function alone keeps it
    del kept
    gc.collect()
    trial.require(not held.holds or reference() is not None, "what the function needs is there until it ran")
    held.open()
    stream.synchronize(_DEADLINE_SECONDS)
    stream.record().synchronize(_DEADLINE_SECONDS)
    gc.collect()
    trial.equal("calls", seen, [True])
    trial.require(reference() is None, "what the function needed is gone after it ran")


@case()
def calls_of_many_streams_and_threads(trial: Trial) -> None:
    """Four threads, each with a stream of its own: all functions run, in the order of each stream."""
    streams = [trial.asynchronous() for _ in range(4)]
    seen: list[list[int]] = [[] for _ in streams]

    def work(place: int) -> None:
        memory = trial.device.allocate(256)
        for step in range(50):
            streams[place].fill(memory, bytes([step]))
            streams[place].call(functools.partial(seen[place].append, step))
        memory.close()

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_DEADLINE_SECONDS)
    for stream in streams:
        stream.synchronize(_DEADLINE_SECONDS)
    trial.equal("calls of four streams", seen, [list(range(50))] * 4)


@case()
def what_cannot_be_called_is_refused(trial: Trial) -> None:
    """call() of another object than a function is TypeError, on a closed stream ClosedError; neither enqueues."""
    stream: ep.Stream = trial.stream()
    thing: Any = b"bytes"
    trial.refuses("call(bytes)", TypeError, lambda: stream.call(thing), "call", "function")
    seen: list[int] = []
    stream.close()
    trial.refuses("call() of a closed stream", ep.ClosedError, lambda: stream.call(lambda: seen.append(1)), "call")
    trial.equal("calls", seen, [])


@case()
def exception_names_its_place(trial: Trial) -> None:
    """The note of an exception says which enqueue of its stream it was: one more than of one that was enqueued before."""
    for stream in trial.streams():
        places = []
        for _ in range(3):
            stream.call(_raiser(_Own("of the function")))
            try:
                stream.synchronize(_DEADLINE_SECONDS)
            except _Own as caught:
                found = re.search(rf"\b(\d+) of {re.escape(stream.name)}\b", " ".join(caught.__notes__))
                trial.require(found, f"a note of {caught.__notes__} says which enqueue of {stream.name} it was")
                places.append(int(found[1]) if found else 0)
        trial.equal("the enqueues that the notes name", places, [1, 2, 3])


@case(since="1.1")
def an_interrupt_inside_a_function_ends_no_thread(trial: Trial) -> None:
    """A function may raise KeyboardInterrupt or SystemExit: it is the stream's error, and later functions are called."""
    stream, seen = trial.asynchronous(), []
    for error in (KeyboardInterrupt("pressed"), SystemExit(3)):
        found: BaseException | None = None
        try:
            stream.call(_raiser(error))  # raises it where the caller's own thread calls the function
            stream.synchronize(_DEADLINE_SECONDS)
        except BaseException as raised:  # noqa: BLE001 - that is what the function raised
            found = raised
        trial.require(found is error, f"the next synchronisation raises the function's exception, not {found!r}")
        stream.call(lambda: seen.append(error))  # noqa: B023 - called in this turn of the loop
        stream.synchronize(_DEADLINE_SECONDS)
        trial.require(seen[-1:] == [error], "a function after it is called")
