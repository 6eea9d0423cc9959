"""Waiter: a thread that waits in a driver wakes the host, and costs nothing where it is not worth it."""

import threading
import time

import pytest
from ep.spi import Waiter

DEADLINE = 60
"""Seconds after which something hangs."""


@pytest.fixture(name="waiter")
def _waiter(request):
    made = Waiter(request.node.name)
    yield made
    made.close()


def threads(name):
    return [thread for thread in threading.enumerate() if thread.name == name]


def test_host_rests_until_the_driver_has_waited(waiter):
    reached = threading.Event()
    threading.Timer(0.05, reached.set).start()
    begin = time.monotonic()
    waiter.rest(DEADLINE, lambda: reached.wait(DEADLINE))
    assert reached.is_set()
    assert time.monotonic() - begin < DEADLINE / 2


def test_host_rests_no_longer_than_it_was_told(waiter):
    opened, called = threading.Event(), []
    begin = time.monotonic()
    waiter.rest(0.02, lambda: opened.wait(DEADLINE))
    waiter.rest(0.02, lambda: called.append("beside the first wait"))
    assert time.monotonic() - begin < DEADLINE / 2
    opened.set()
    waiter.see_out()
    assert not called


def test_short_rests_need_no_thread(waiter, request):
    called = []
    waiter.rest(1e-5, lambda: called.append("a short wait"))
    assert not called
    assert not threads(request.node.name)


def test_drivers_that_work_in_waits_are_waited_for_at_once():
    waiter, reached = Waiter("at once", 0.0), threading.Event()
    waiter.rest(0, reached.set)
    assert reached.wait(DEADLINE)
    waiter.close()


def test_without_a_thread_the_host_rests(waiter, monkeypatch):
    def refuse(_):
        raise RuntimeError

    called, reached = [], threading.Event()
    with monkeypatch.context() as without:
        without.setattr(threading.Thread, "start", refuse)
        waiter.rest(1e-3, lambda: called.append("without a thread"))
    waiter.rest(DEADLINE, reached.set)
    assert reached.is_set()
    assert not called


def test_interrupted_rest_leaves_the_thread_to_the_next_one(waiter, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as during:
        during.setattr(threading.Thread, "start", interrupt)
        with pytest.raises(KeyboardInterrupt):
            waiter.rest(1e-3, list)
    reached = threading.Event()
    waiter.rest(DEADLINE, reached.set)
    assert reached.is_set()


def test_closed_waiter_leaves_no_thread():
    waiter, opened = Waiter("closed"), threading.Event()
    waiter.rest(1e-3, lambda: opened.wait(DEADLINE))
    (thread,) = threads("closed")
    threading.Timer(0.05, opened.set).start()
    waiter.close()
    assert opened.is_set()
    thread.join(DEADLINE)
    assert not thread.is_alive()
