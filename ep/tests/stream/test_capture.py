"""Captures: what they take and refuse, how streams join them, how they end."""

from __future__ import annotations

import manual
import pytest
from graphs import SPEC, content, holding

import ep


@pytest.fixture
def negate(device):
    return manual.Negate(x=SPEC, out=SPEC).on(device)


@pytest.mark.parametrize(
    ("verb", "name"),
    [
        (lambda s, m: s.upload(m, b"abcd"), "upload"),
        (lambda s, m: s.download(bytearray(4), m), "download"),
        (lambda s, _: s.call(print), "call"),
        (lambda s, _: s.allocate(4), "allocate"),
        (lambda s, m: s.free(m), "free"),
        (lambda s, _: s.synchronize(), "synchronize"),
        (lambda s, _: s.is_idle, "is_idle"),
        (lambda s, _: s.close(), "close"),
        (lambda s, _: s.capture().__enter__(), "capture"),
        (lambda s, _: s.record(timed=True), "record"),
        (lambda s, _: s.record().is_done, "event"),
        (lambda s, _: s.record().synchronize(), "event"),
    ],
)
def test_what_cannot_be_captured_is_refused_and_the_capture_goes_on(device, stream, negate, verb, name):
    x, out = holding(stream, 1, 2, 3, 4), device.allocate(4)
    with stream.capture() as graph:
        with pytest.raises(ValueError, match=f"{name}:"):
            verb(stream, x)
        negate(stream, x=x, out=out)
    assert len(graph.nodes) == 1
    graph.launch(stream)
    assert content(stream, out) == [255, 254, 253, 252]


def test_graph_cannot_be_captured_nor_launched_before_its_end(device, stream, negate):
    with stream.capture() as first:
        negate(stream, x=device.allocate(4), out=device.allocate(4))
    with stream.capture() as second:
        with pytest.raises(ValueError, match="graph: manual:0/stream0 is being captured"):
            first.launch(stream)
        with pytest.raises(ValueError, match="its capture has not ended"):
            second.launch(device.stream())
    second.launch(stream)
    assert not stream.twin.queue


def test_streams_join_by_events_and_must_be_joined(device, stream, negate):
    memory, out = holding(stream, 1, 2, 3, 4), device.allocate(4)
    other = device.stream()
    with stream.capture() as graph:
        negate(stream, x=memory, out=out)
        other.wait(stream.record())
        negate(other, x=out, out=memory)
        stream.wait(other.record())
    assert len(graph.nodes) == 2
    other.fill(out, b"\1")
    assert len(other.twin.queue) == 1
    capture = stream.capture()
    loose = capture.__enter__()
    other.wait(stream.record())
    negate(other, x=out, out=memory)
    with pytest.raises(ValueError, match="manual:0/stream1 joined it"):
        capture.__exit__(None, None, None)
    with pytest.raises(ep.ClosedError, match="before its stream waited for the work of the other streams"):
        loose.launch(stream)
    other.fill(out, b"\1")
    assert len(other.twin.queue) == 2


def test_work_behind_the_joining_event_is_loose(device, stream, negate):
    other = device.stream()
    capture = stream.capture()
    capture.__enter__()
    other.wait(stream.record())
    stream.wait(other.record())
    negate(other, x=device.allocate(4), out=device.allocate(4))
    with pytest.raises(ValueError, match="stream1"):
        capture.__exit__(None, None, None)


def test_streams_may_be_joined_through_each_other(device, stream, negate):
    second, third = device.stream(), device.stream()
    with stream.capture() as graph:
        begin = stream.record()
        second.wait(begin)
        third.wait(begin)
        negate(third, x=device.allocate(4), out=device.allocate(4))
        second.wait(third.record())
        stream.wait(second.record())
    assert len(graph.nodes) == 1


def test_events_from_outside_are_refused(device, stream, provider):
    before, foreign = stream.record(), device.stream().record()
    away = provider.devices()[1].stream()
    with stream.capture():
        for event in (before, foreign):
            with pytest.raises(ValueError, match=r"wait: .* before graph.launch"):
                stream.wait(event)
        inside = stream.record()
        with pytest.raises(ValueError, match="a graph is of one device"):
            away.wait(inside)
    for each in (stream, device.stream()):
        with pytest.raises(ValueError, match="in a capture of manual:0/stream0 that has ended"):
            each.wait(inside)


def test_exception_ends_the_capture_and_the_stream_works_on(device, stream, negate):
    x, out = holding(stream, 1, 2, 3, 4), device.allocate(4)
    graphs = []

    def work():
        with stream.capture() as graph:
            graphs.append(graph)
            negate(stream, x=x, out=out)
            raise KeyError

    with pytest.raises(KeyError):
        work()
    (graph,) = graphs
    with pytest.raises(ep.ClosedError, match="an exception ended its capture"):
        graph.launch(stream)
    negate(stream, x=x, out=out)
    assert content(stream, out) == [255, 254, 253, 252]


def test_closed_memory_is_refused_in_a_capture(device, stream, negate):
    x = device.allocate(4)
    x.close()
    with stream.capture() as graph, pytest.raises(ep.ClosedError):
        negate(stream, x=x, out=device.allocate(4))
    assert graph.nodes == ()


def test_capture_is_entered_once(stream):
    capture = stream.capture()
    with capture:
        pass
    with pytest.raises(ValueError, match="entered already"):
        capture.__enter__()


def test_closed_stream_is_not_captured(device):
    stream = device.stream()
    stream.close()
    with pytest.raises(ep.ClosedError, match="capture"):
        stream.capture()
