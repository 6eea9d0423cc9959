"""stream.call: the guard inside the function, its exceptions, the host that waits where the provider has no call."""

from __future__ import annotations

import os
import threading

import manual
import pytest
from ep.ground.callback import HostThread

import ep


@pytest.fixture(params=["manual", "must", "polling", "worker"])
def calling(request, device):
    """Return a stream of each kind, whose work is done by itself or by synchronize."""
    if request.param == "worker":
        stream = device._enlist(device._over(lambda ledger: ep.spi.Worker(manual.LaneStream(ledger))))
        yield stream
        stream.close()
    else:
        kinds = {"manual": manual.ManualStream, "must": manual.MustStream, "polling": manual.PollingStream}
        device.twin.stream_type = kinds[request.param]
        yield device.stream()


def test_function_is_called_once_in_its_place(device, calling):
    memory, seen = device.allocate(4), []
    calling.upload(memory, b"abcd")
    if isinstance(calling.twin, manual.PollingStream):
        calling.twin.advance()
    calling.call(lambda: seen.append(bytes(memory.handle)))
    calling.upload(memory, b"efgh")
    if isinstance(calling.twin, manual.PollingStream):
        calling.twin.advance()
    calling.synchronize()
    assert seen == [b"abcd"]
    assert bytes(memory.handle) == b"efgh"


def test_host_that_waits_for_an_asynchronous_stream_is_counted(device):
    stream = device.stream()
    stream.call(list)
    assert device.degraded["call"] == 1


def test_synchronous_streams_call_is_nobodys_service(device, stream):
    stream.twin.is_synchronous = True
    stream.call(list)
    assert device.degraded["call"] == 0


def test_exception_is_raised_once_by_the_next_synchronisation_with_its_place(calling):
    error = KeyError("mine")

    def fail():
        raise error

    calling.call(list)
    calling.call(fail)
    calling.call(fail)
    with pytest.raises(KeyError, match="mine") as caught:
        calling.synchronize()
    assert caught.value is error
    assert error.__notes__[0] == f"enqueue 2 of {calling.name}: call"
    calling.synchronize()


def test_even_what_ends_a_thread_is_raised_by_the_next_synchronisation(calling):
    def leave():
        raise SystemExit(3)

    calling.call(leave)
    with pytest.raises(SystemExit):
        calling.synchronize()
    calling.call(list)
    calling.synchronize()


def test_close_raises_the_exception_and_closes(device, stream):
    def fail():
        raise KeyError("mine")

    stream.call(fail)
    with pytest.raises(KeyError, match="mine"):
        stream.close()
    assert stream.twin.closed
    stream.close()
    device.close()


def test_ctrl_c_in_the_function_of_a_synchronous_stream_passes_through(stream):
    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stream.call(interrupt)
    stream.call(list)
    stream.synchronize()


REFUSED = {
    "stream.fill": lambda stream, memory, _: stream.fill(memory, b"a"),
    "stream.call": lambda stream, *_: stream.call(list),
    "stream.record": lambda stream, *_: stream.record(),
    "stream.wait": lambda stream, _, event: stream.wait(event),
    "stream.synchronize": lambda stream, *_: stream.synchronize(),
    "stream.close": lambda stream, *_: stream.close(),
    "stream.is_idle": lambda stream, *_: stream.is_idle,
    "event.synchronize": lambda _, __, event: event.synchronize(),
    "device.synchronize": lambda stream, *_: stream.device.synchronize(),
    "device.allocate": lambda stream, *_: stream.device.allocate(8),
    "device.stream": lambda stream, *_: stream.device.stream(),
    "device.close": lambda stream, *_: stream.device.close(),
}


@pytest.mark.parametrize("verb", REFUSED)
def test_function_that_uses_ep_gets_a_value_error_that_names_call(device, calling, verb):
    event, memory = calling.record(), device.allocate(8)
    calling.call(lambda: REFUSED[verb](calling, memory, event))
    with pytest.raises(ValueError, match="not inside a function given to call"):
        calling.synchronize()
    calling.synchronize()
    assert not calling.is_closed


def test_guard_ends_with_the_function(device, stream):
    def fail():
        raise KeyError

    stream.call(fail)
    device.allocate(4)
    with pytest.raises(KeyError):
        stream.synchronize()


def test_guard_is_of_the_calling_thread_alone(device, stream):
    made = []

    def elsewhere():
        thread = threading.Thread(target=lambda: made.append(device.allocate(4)))
        thread.start()
        thread.join()

    stream.call(elsewhere)
    assert len(made) == 1


def test_child_forked_inside_of_a_function_is_free(stream):
    statuses = []

    def fork():
        child = os.fork()
        if not child:
            try:
                manual.provider_over(manual.ManualProvider()).devices()[0].allocate(4)
            except BaseException:  # noqa: BLE001 - whatever it is, the parent hears of it by the exit code
                os._exit(1)
            os._exit(0)
        statuses.append(os.waitpid(child, 0)[1])

    stream.call(fork)
    stream.synchronize()
    assert statuses == [0]


def test_what_cannot_be_called_is_refused(stream):
    with pytest.raises(TypeError, match="call: function is int, needs something that can be called"):
        stream.call(3)


def test_host_thread_does_all_in_order_and_ends():
    seen, ended = [], threading.Event()
    thread = HostThread("tested")
    for place in range(100):
        thread.do(lambda place=place: seen.append(place))
    thread.do(ended.set)
    thread.close()
    assert ended.wait(20)
    assert seen == list(range(100))
    for left in threading.enumerate():
        if left.name == "tested":
            left.join(20)
            assert not left.is_alive()
