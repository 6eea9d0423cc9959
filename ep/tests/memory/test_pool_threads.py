"""Who may allocate and close at once: threads, finalizers, streams that run, and a forked child."""

from __future__ import annotations

import gc
import os
import threading
import warnings

import manual
import numpy as np
import pytest
from ep.memory.segment import OWNERSHIP

import ep


def ended(target, seconds=60):
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    thread.join(seconds)
    return not thread.is_alive()


def test_closing_dropping_and_allocating_wait_for_no_drain(device, monkeypatch):
    memories = [device.allocate(4) for _ in range(4)]
    stream = device.stream()
    stream.upload(memories[0], b"abcd")
    memories.pop().close()
    inside, go, record = threading.Event(), threading.Event(), manual.ManualStream.record

    def slow(self, *, timed):
        inside.set()
        go.wait(60)
        return record(self, timed=timed)

    monkeypatch.setattr(manual.ManualStream, "record", slow)
    drainer = threading.Thread(target=device.trim, daemon=True)
    drainer.start()
    assert inside.wait(60)

    def give_back():
        memories.pop().close()
        memories.pop()
        gc.collect()
        memories.append(device.allocate(4))

    try:
        assert ended(give_back)
    finally:
        go.set()
        drainer.join(60)
    assert len(device._retired) == 3


class Crowd:
    """Threads that allocate, use and give back while the streams' queues advance; what is in use is noted."""

    def __init__(self, device, rounds):
        self.device, self.rounds = device, rounds
        self.streams = [device.stream() for _ in range(3)]
        self.live, self.clashes, self.guard, self.done = set(), [], threading.Lock(), threading.Event()

    def advance(self):
        while not self.done.is_set():
            for stream in self.streams:
                stream.twin.advance(min(len(stream.twin.queue), 3))

    def work(self, number):
        rng = np.random.default_rng(number)
        for turn in range(self.rounds):
            memory = self.device.allocate(int(rng.integers(1, 40)))
            place = id(memory.handle)
            with self.guard:
                if place in self.live:
                    self.clashes.append(number)
                self.live.add(place)
            if number < len(self.streams):
                self.streams[number].fill(memory, b"\1")
            with self.guard:
                self.live.discard(place)
            if turn % 3:
                memory.close()
            del memory

    def run(self, workers):
        threads = [threading.Thread(target=self.work, args=(number,), daemon=True) for number in range(workers)]
        helper = threading.Thread(target=self.advance, daemon=True)
        for thread in [helper, *threads]:
            thread.start()
        for thread in threads:
            thread.join(120)
        self.done.set()
        helper.join(60)
        return not any(thread.is_alive() for thread in [helper, *threads])


def test_threads_that_close_while_streams_run_lose_and_share_nothing(device):
    """No two open memories have one handle, and all is back in the end."""
    crowd = Crowd(device, rounds=300)
    assert crowd.run(workers=6)
    assert crowd.clashes == []
    gc.collect()
    device.synchronize()
    info = device.memory_info()
    assert (info.in_use, info.hits + info.misses) == (0, 6 * 300)
    assert info.reserved == device.twin.in_use
    assert len(device._retired) == 0
    device.trim()
    assert device.twin.in_use == 0


def test_slow_stream_bears_few_events_however_much_is_closed(device, stream):
    one, other = device.allocate(1), device.allocate(1)
    for _ in range(200):
        stream.copy(one, other)
        device.allocate(4).close()
    assert 0 < stream.twin.events < 10
    stream.twin.advance()
    device.synchronize()
    assert device.memory_info().in_use == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked_child_drops_what_it_inherits_whoever_held_the_locks(device, stream):
    memory = device.allocate(4)
    stream.upload(memory, b"abcd")
    busy, go = threading.Event(), threading.Event()

    def hold():
        with OWNERSHIP.lock:
            busy.set()
            go.wait(60)

    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    assert busy.wait(60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that forking beside threads is dangerous
        child = os.fork()
    if not child:
        status = 1
        try:
            memory.close()
            del memory
            gc.collect()
            try:
                device.allocate(4)
            except ep.ClosedError:
                status = 0
        finally:
            os._exit(status)
    go.set()
    thread.join(60)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
