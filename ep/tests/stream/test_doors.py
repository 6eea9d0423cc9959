"""Doors: their order, how they are put and taken away, what they see, and that none of them costs or keeps anything."""

from __future__ import annotations

import gc
import inspect
import itertools
import random
import threading
import weakref
from typing import NamedTuple

import manual
import pytest
from ep.stream import doors
from graphs import SPEC, content, holding
from interruptions import everywhere

import ep


class Passing:
    """A door that notes that it was passed."""

    def __init__(self, name, passed):
        self.name, self.passed = name, passed

    def __call__(self, onward, stream, what, memories, scalars, run):
        self.passed.append(self.name)
        return onward(stream, what, memories, scalars, run)


class Seen(NamedTuple):
    what: str
    number: int


class Counting:
    """What a profiler begins with: each enqueue, under the number that errors and tickets have."""

    def __init__(self):
        self.seen = []

    def __call__(self, onward, stream, what, memories, scalars, run):
        self.seen.append(Seen(str(what).partition("(")[0].partition(" ")[0], stream._ledger.sequence))
        before = stream._sequence
        done = onward(stream, what, memories, scalars, run)
        assert stream._sequence == before + 1
        return done


@pytest.fixture(params=["plain", "worker"])
def stream(request, device):
    if request.param == "worker":
        return device._enlist(device._over(lambda ledger: ep.spi.Worker(manual.LaneStream(ledger))))
    return device.stream()


@pytest.fixture
def plain(device):
    return device.stream()


def is_bare(stream):
    return getattr(stream._submit, "__func__", None) is type(stream)._submit


def passed(stream, names):
    names.clear()
    stream.record()
    return list(names)


def test_no_door_is_nothing_in_the_way(plain):
    assert plain._doors == doors.NONE
    assert is_bare(plain)
    doors.remove(plain, "profile")
    assert is_bare(plain)
    doors.put(plain, "profile", Counting())
    assert not is_bare(plain)
    doors.remove(plain, "profile")
    assert is_bare(plain)
    with plain.capture():
        assert not is_bare(plain)
    assert is_bare(plain)


@pytest.mark.parametrize("seed", range(5))
def test_order_is_that_of_the_ranks_whatever_came_and_went_first(plain, seed):
    dice, names, there = random.Random(seed), [], set()
    assert doors.RANKS == ("fork", "close", "validation", "capture", "profile", "fault", "worker")
    for rank in dice.choices(doors.RANKS, k=60):
        if rank in there:
            doors.remove(plain, rank)
        else:
            doors.put(plain, rank, Passing(rank, names))
        there ^= {rank}
        assert passed(plain, names) == [each for each in doors.RANKS if each in there]
        assert is_bare(plain) == (not there)


def test_door_of_a_rank_takes_the_place_of_the_one_before(plain):
    names = []
    doors.put(plain, "profile", Passing("first", names))
    doors.put(plain, "profile", Passing("second", names))
    assert passed(plain, names) == ["second"]


def test_door_may_run_record_or_refuse(device, plain):
    recorded = []

    def door(onward, stream, what, memories, scalars, run):
        if what == "upload":
            recorded.append(what)
            return None
        if what == "fill":
            raise ValueError("no fills today")
        return onward(stream, what, memories, scalars, run)

    memory = holding(plain, 1, 2, 3, 4)
    doors.put(plain, "fault", door)
    plain.upload(memory, b"\0\0\0\0")
    with pytest.raises(ValueError, match="no fills today"):
        plain.fill(memory, b"\0")
    assert content(plain, memory) == [1, 2, 3, 4]
    assert recorded == ["upload"]


def test_profiler_sees_launches_steps_graphs_and_copies_and_their_numbers(device, stream):
    negate = manual.Negate(x=SPEC, out=SPEC).on(device)
    x, out, profiler = holding(stream, 1, 2, 3, 4), device.allocate(4), Counting()
    step = negate.bind(x=x, out=out)
    doors.put(stream, "profile", profiler)
    first = stream._sequence + 1
    negate(stream, x=x, out=out)
    step(stream)
    with stream.capture() as graph:
        negate(stream, x=out, out=x)
        stream.copy(out, x)
    graph.launch(stream)
    stream.copy(out, x)
    assert content(stream, out) == [1, 2, 3, 4]
    doors.remove(stream, "profile")
    negate(stream, x=x, out=out)
    assert [seen.what for seen in profiler.seen] == ["negate", "negate", "graph", "copy", "download"]
    assert [seen.number for seen in profiler.seen] == [*range(first, first + 5)]
    step.close()
    graph.close()


def test_profiler_sees_nothing_that_validation_refuses(watched, device):
    profiler, memory = Counting(), device.allocate(4)
    doors.put(watched, "profile", profiler)

    def launch():
        with pytest.raises(ValueError, match="given to call"):
            watched._submit("launch", (), (), print)

    watched.call(launch)
    watched.upload(memory, b"abcd")
    watched.synchronize()
    assert [seen.what for seen in profiler.seen] == ["call", "upload"]


def test_failure_on_request_has_the_number_that_the_profiler_saw(device, stream):
    profiler, memory = Counting(), device.allocate(4)

    def fail(*_):
        raise ep.DeviceError("boom", provider="manual", call="doIt", code=-5)

    doors.put(stream, "profile", profiler)
    doors.put(
        stream,
        "fault",
        lambda onward, stream, what, memories, scalars, _: onward(stream, what, memories, scalars, fail),
    )
    with pytest.raises(ep.DeviceError, match="upload") as caught:  # noqa: PT012 - either raises
        stream.upload(memory, b"abcd")
        stream.synchronize()
    assert caught.value.sequence == profiler.seen[0].number
    doors.remove(stream, "fault")


def test_validation_stands_before_a_capture(watched, device):
    """What another thread would add to a capture while a verb is under way is refused as anywhere."""
    inside, leave = threading.Event(), threading.Event()
    memory = device.allocate(4)

    def hold(onward, stream, what, memories, scalars, run):
        inside.set()
        assert leave.wait(20)
        return onward(stream, what, memories, scalars, run)

    with watched.capture() as graph:
        place = doors.RANKS.index("capture")
        capture = watched._doors[place]
        doors.put(watched, "capture", lambda onward, *work: hold(lambda *rest: capture(onward, *rest), *work))
        thread = threading.Thread(target=watched.fill, args=(memory, b"\1"))
        thread.start()
        assert inside.wait(20)
        with pytest.raises(ValueError, match="in use by another thread"):
            watched.fill(memory, b"\2")
        leave.set()
        thread.join(20)
    assert len(graph.nodes) == 1
    watched.fill(memory, b"\3")


def test_origin_is_that_of_the_launch_whatever_was_read_before_it(watched, device):
    class Looked(manual.Negate):
        roles = ep.Roles(ep.Role.input("x", is_inspected=True), ep.Role.output("out"))
        __slots__ = ()

        def check_contents(self, contents):
            assert contents["x"].tolist() == [1, 2, 3, 4]

    class Broken(ep.Kernel):
        def launch(self, stream, memories, scalars):
            stream.ledger.failed(stream.ledger.ticket(), ep.DeviceError("broken"))

    device.provider.twin.table[Looked] = (manual.Strategy("Broken", Broken),)
    x, out = holding(watched, 1, 2, 3, 4), device.allocate(4)
    launch = Looked(x=SPEC, out=SPEC).on(device)
    with pytest.raises(ep.DeviceError, match="broken") as caught:  # noqa: PT012 - the line is known here
        line = inspect.currentframe().f_lineno + 1
        launch(watched, x=x, out=out)
        watched.synchronize()
    assert (caught.value.file, caught.value.line) == (__file__, line)


def test_stream_that_is_closed_with_any_doors_refuses(device):
    for ranks in itertools.combinations(("validation", "profile", "worker"), 2):
        stream, names = device.stream(), []
        for rank in ranks:
            doors.put(stream, rank, Passing(rank, names))
        stream.close()
        with pytest.raises(ep.ClosedError, match=r"launch: manual:0/stream\d+ was closed"):
            stream._submit("launch", (), (), print)
        for rank in ranks:
            doors.remove(stream, rank)
        with pytest.raises(ep.ClosedError, match="was closed"):
            stream._submit("launch", (), (), print)
        assert not names


def test_no_door_keeps_a_stream_alive(device):
    gc.collect()
    gc.disable()
    try:
        stream = device.stream()
        for rank in doors.RANKS:
            doors.put(stream, rank, Passing(rank, []))
        stream.record()
        stream.synchronize()
        reference = weakref.ref(stream)
        del stream
        device.synchronize()
        assert reference() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("is_there", [True, False])
def test_handler_changes_doors_at_any_place_of_a_change(plain, is_there):
    names = []

    def change():
        doors.put(plain, "profile", Passing("profile", names))

    def handle():
        doors.put(plain, "validation", Passing("validation", names) if is_there else None)

    for place in everywhere(change, handle):
        assert passed(plain, names) == (["validation", "profile"] if is_there else ["profile"]), place
        doors.remove(plain, "profile")
        if is_there:
            doors.remove(plain, "validation")
        else:
            doors.put(plain, "validation", Passing("validation", names))
        assert is_bare(plain) == is_there


def test_threads_that_change_different_doors_lose_none(plain):
    names, ranks = [], ("validation", "profile", "fault", "worker")

    def change(rank):
        for _ in range(500):
            doors.put(plain, rank, Passing(rank, names))
            doors.remove(plain, rank)
        doors.put(plain, rank, Passing(rank, names))

    threads = [threading.Thread(target=change, args=(rank,)) for rank in ranks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert passed(plain, names) == list(ranks)
