"""The end of the process: all streams, then all memories, then all devices; what fails and what does not end."""

from __future__ import annotations

import functools
import gc
import warnings

import manual
import pytest
from ep.plugin import registry
from ep.plugin.ending import end

import ep


def test_end_waits_for_all_work(device):
    streams = [device.stream() for _ in range(3)]
    memory = device.allocate(4)
    handle = memory.handle
    streams[1].upload(memory, b"abcd")
    end([device])
    assert [each.is_closed for each in streams] == [True] * 3
    assert [each.twin.closed for each in streams] == [True] * 3
    assert bytes(handle) == b"abcd"
    assert device.is_closed


def test_end_waits_for_dropped_streams(device):
    memory = device.allocate(4)
    handle = memory.handle
    stream = device.stream()
    stream.upload(memory, b"abcd")
    stream.itself = stream
    del stream
    gc.collect()
    end([device])
    assert bytes(handle) == b"abcd"


def test_end_warns_of_work_that_failed_and_goes_on(device):
    streams = [device.stream() for _ in range(2)]
    for each in streams:
        each.twin.ledger.failed(None, ep.DeviceError("boom"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        end([device])
    assert len([warning for warning in caught if "DeviceError: boom" in str(warning.message)]) == 2
    assert [each.is_closed for each in streams] == [True] * 2
    assert device.is_closed


def test_end_leaves_what_does_not_end_in_time_alone(device, monkeypatch):
    monkeypatch.setenv("EP_EXIT_SECONDS", "0.01")
    device.twin.stream_type = manual.PollingStream
    streams = [device.stream() for _ in range(2)]
    abandoned = []
    for each in streams:
        each.twin.abandon = functools.partial(abandoned.append, each)
    memory = device.allocate(4)
    streams[0].upload(memory, b"abcd")
    with pytest.warns(RuntimeWarning, match=r"work of manual:0/stream0 is under way; EP_EXIT_SECONDS"):
        end([device])
    assert (abandoned, device.twin.freed, memory.is_closed, device.is_closed) == ([streams[0]], [], False, False)
    assert [each.is_closed for each in streams] == [False, True]
    streams[0].twin.advance()


def test_ctrl_c_at_the_end_is_the_last_wait(device, monkeypatch):
    device.twin.stream_type = manual.PollingStream
    streams = [device.stream() for _ in range(3)]
    streams[0].twin.interrupt = KeyboardInterrupt()
    streams[2].upload(device.allocate(4), b"abcd")
    with pytest.warns(RuntimeWarning, match=r"work of manual:0/stream0, manual:0/stream2 is under way"):
        end([device])
    assert [each.is_closed for each in streams] == [False, True, False]
    streams[2].twin.advance()


def test_closing_the_memories_frees_open_closed_and_held_ones_once(device):
    memories = [device.allocate(4) for _ in range(3)]
    handles = [memory.handle for memory in memories]
    memories[0].close()
    device._close_memories()
    assert sorted(map(id, device.twin.freed)) == sorted(map(id, handles))
    assert all(memory.is_closed for memory in memories)
    device._close_memories()
    del memories
    device._close_memories()
    assert len(device.twin.freed) == 3


def test_process_ends_with_all_streams_then_all_memories_then_all_devices(provider, monkeypatch):
    log = []
    monkeypatch.setattr(manual.ManualStream, "close", lambda self: log.append(("stream", len(self.queue))))
    monkeypatch.setattr(manual.ManualDevice, "free", lambda self, handle, kind: log.append(("memory", bytes(handle))))
    monkeypatch.setattr(manual.ManualDevice, "close", lambda self: log.append(("device", self.name)))
    monkeypatch.setattr(manual.ManualDevice, "can_copy_from", lambda self, other: True)
    monkeypatch.setattr(registry, "_LOADED", [provider])
    first, second = provider.devices()
    source, target = first.allocate(4), second.allocate(4)
    streams = [first.stream(), second.stream()]
    streams[0].upload(source, b"abcd")
    streams[0].twin.advance()
    streams[1].copy(target, source)
    registry._shut_down()
    assert log == [
        ("stream", 0),
        ("stream", 0),
        ("memory", b"abcd"),
        ("memory", b"abcd"),
        ("device", "manual:0"),
        ("device", "manual:1"),
    ]
    assert (first.is_closed, second.is_closed) == (True, True)
    registry._shut_down()
    assert len(log) == 6


def test_raising_free_keeps_no_other_memory_and_no_other_device_open(provider, monkeypatch):
    freed = []

    def free(self, handle, kind):
        freed.append((self.name, bytes(handle)))
        if self.name == "manual:0":
            raise ep.DeviceLostError("gone")

    monkeypatch.setattr(manual.ManualDevice, "free", free)
    first, second = provider.devices()
    memories = [first.allocate(4), first.allocate(5), second.allocate(6)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        end([first, second])
    assert sorted((name, len(handle)) for name, handle in freed) == [
        ("manual:0", 4),
        ("manual:0", 5),
        ("manual:1", 6),
    ]
    said = [str(warning.message) for warning in caught if "freed" in str(warning.message)]
    assert said == ["manual:0: memory could not be freed, which is said once: DeviceLostError: gone"]
    assert (first.is_closed, second.is_closed) == (True, True)
    assert all(memory.is_closed for memory in memories)


def test_stream_whose_driver_raises_strange_things_keeps_no_other_open(device, monkeypatch):
    streams = [device.stream() for _ in range(3)]

    def broken():
        raise BrokenPipeError("no driver")

    streams[0].twin.synchronize = broken
    streams[1].twin.close = broken
    with pytest.warns(RuntimeWarning, match="BrokenPipeError: no driver"):
        end([device])
    assert ([each.is_closed for each in streams], device.is_closed) == ([True] * 3, True)


def test_lost_device_whose_work_did_not_fail_is_no_warning(device):
    streams = [device.stream() for _ in range(2)]
    streams[0].twin.ledger.failed(None, ep.DeviceLostError("gone"))
    streams[1].twin.ledger.failed(ep.spi.Ticket("fill", "a stream", 3), ep.DeviceLostError("gone"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        end([device])
    said = [str(warning.message) for warning in caught]
    assert said == [
        "manual:0/stream1: work failed and nobody waited for it: DeviceLostError: gone (enqueue 3 of a stream: fill)"
    ]
