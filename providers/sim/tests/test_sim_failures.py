"""Failures on request: each is reported as the contract says, for every place at which it can strike."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from ep_primitives import ElementwiseUnary

import ep

RUNS = """
import sys
import ep
import numpy as np
from ep_primitives import ElementwiseUnary
device = ep.device("sim:0")
kept, errors = [], []

def attempt(what, call):
    try:
        return call()
    except ep.EpError as error:
        errors.append(f"{what}: {type(error).__name__}: {getattr(error, 'op', None)}")

x = np.full(100, -3, np.float32)
stream = attempt("stream", device.stream)
memories = [attempt("allocate", lambda n=n: device.allocate(400 << n)) for n in range(3)]
if all(memories):
    primitive = ElementwiseUnary.infer("abs", ep.TensorSpec.of(x)).on(device)
    attempt("upload", lambda: stream.upload(memories[0], x))
    for _ in range(3):
        attempt("abs", lambda: primitive(stream, x=memories[0], out=memories[1]))
    event = attempt("record", stream.record)
    other = attempt("stream", device.stream)
    if event and other:
        attempt("wait", lambda: other.wait(event))
        attempt("fill", lambda: other.fill(memories[2], b"a"))
        attempt("synchronize", other.synchronize)
    attempt("synchronize", stream.synchronize)
    attempt("again", stream.synchronize)
    if event:
        attempt("event", event.synchronize)
print("; ".join(errors) or "nothing", "lost" if device.twin.is_lost else "there")
"""


@pytest.mark.parametrize("n", range(1, 5))
def test_nth_allocation_is_out_of_memory(device, program, n):
    done = program(RUNS, EP_SIM_FAIL=f"allocation:{n}")
    expected = "allocate: OutOfMemoryError: None there" if n <= 3 else "nothing there"
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, expected, "")


@pytest.mark.parametrize("n", range(1, 5))
def test_nth_launch_fails_where_somebody_synchronises(device, program, n):
    done = program(RUNS, EP_SIM_FAIL=f"launch:{n}")
    expected = "synchronize: DeviceError: abs there" if n <= 3 else "nothing there"
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, expected, "")


@pytest.mark.parametrize("n", range(1, 8))
def test_device_that_is_lost_with_its_nth_task_ends_every_wait(device, program, n):
    done = program(RUNS, EP_SIM_FAIL=f"lost:{n}")
    errors, _, state = done.stdout.strip().rpartition(" ")
    assert (done.returncode, state) == (0, "lost"), done.stderr
    assert {entry.split(": ")[1] for entry in errors.split("; ")} == {"DeviceLostError"}
    assert "again: DeviceLostError" in errors


def test_failed_launch_names_its_place_and_leaves_the_rest_working(device):
    stream, x = device.stream(), np.arange(-8, 8, dtype=np.float32)
    memories = [device.allocate(x.nbytes) for _ in range(4)]
    primitive = ElementwiseUnary.infer("negative", ep.TensorSpec.of(x)).on(device)
    stream.upload(memories[0], x)
    device.twin.fail(launch=2)
    for before, after in itertools.pairwise(memories):
        primitive(stream, x=before, out=after)
    with pytest.raises(ep.DeviceError, match="as was asked for") as caught:
        stream.synchronize()
    assert (caught.value.op, caught.value.stream, caught.value.sequence) == ("negative", stream.name, 3)
    host = np.empty_like(x)
    stream.download(host, memories[1])
    stream.synchronize()
    assert (host == -x).all()
    stream.close()


def test_failed_launch_on_a_synchronous_stream_is_raised_at_once(device):
    stream, x = device.stream(synchronous=True), np.arange(4, dtype=np.float32)
    memory = device.allocate(x.nbytes)
    primitive = ElementwiseUnary.infer("negative", ep.TensorSpec.of(x)).on(device)
    stream.upload(memory, x)
    device.twin.fail(launch=1)
    with pytest.raises(ep.DeviceError, match="as was asked for"):
        primitive(stream, x=memory, out=memory)
    primitive(stream, x=memory, out=memory)
    stream.close()


def test_out_of_memory_that_was_asked_for_is_named(device):
    device.trim()  # or the pool would give that back and ask again
    device.twin.fail(allocation=1)
    with pytest.raises(ep.OutOfMemoryError) as caught:
        device.allocate(12_345_678)
    assert caught.value.requested == 12_345_678
    device.allocate(12_345_678).close()


def test_everything_of_a_lost_device_says_so_and_opening_it_again_helps(program):
    done = program(
        """
import ep
device = ep.device("sim:0")
other = ep.device("sim:1")
stream, beside, memory = device.stream(), other.stream(), device.allocate(64)
event = stream.record()
stream.synchronize()
stream.fill(memory, b"a")
device.twin.lose()
calls = {
    "allocate": lambda: device.allocate(1 << 20),
    "stream": device.stream,
    "fill": lambda: stream.fill(memory, b"a"),
    "upload": lambda: stream.upload(memory, bytes(64)),
    "record": stream.record,
    "synchronize": stream.synchronize,
    "event": event.synchronize,
    "device": device.synchronize,
    "close": stream.close,
}
for name, call in calls.items():
    try:
        call()
    except ep.DeviceLostError:
        continue
    print(name, "raised nothing")
target = other.allocate(64)
beside.fill(target, b"b")
beside.synchronize()
memory.close()
device.close()
again = ep.device("sim:0")
print(again is not device, again.twin.is_lost)
stream, memory, host = again.stream(), again.allocate(64), bytearray(64)
stream.fill(memory, b"c")
beside.copy(target, memory)
stream.download(host, memory)
stream.synchronize()
print(bytes(host[:2]))
"""
    )
    assert done.stdout.split("\n")[:2] == ["True False", "b'cc'"], done.stdout + done.stderr


def test_streams_of_other_devices_that_wait_for_a_lost_one_go_on(device, program):
    done = program(
        """
import ep
device, other = ep.device("sim:0"), ep.device("sim:1")
stream, beside = device.stream(), other.stream()
memory, theirs = other.allocate(64), device.allocate(64)
stream.fill(theirs, b"x")
event = stream.record()
beside.wait(event)
beside.fill(memory, b"y")
beside.copy(memory[:32], theirs[:32])
device.twin.lose()
try:
    beside.synchronize(timeout=60)
except ep.DeviceLostError as error:
    print(error.op, error.stream)
host = bytearray(64)
beside.download(host, memory)
beside.synchronize(timeout=60)
print(bytes(host) == b"y" * 64)
"""
    )
    assert done.stdout.split("\n")[:2] == ["copy sim:1/stream0", "True"], done.stdout + done.stderr


def test_what_is_behind_a_failed_copy_is_not_started_until_somebody_heard(device):
    stream, other = device.stream(), device.stream()
    memory, beside = device.allocate(64), device.allocate(64)
    seen = []
    device.twin.inject(ep.spi.Fault(ep.spi.FaultKind.COPY, 2))
    stream.upload(memory, b"a" * 64)
    stream.upload(memory, b"b" * 64)
    stream.fill(memory, b"c")
    stream.call(lambda: seen.append(1))
    event = stream.record()
    other.wait(event)
    other.fill(beside, b"d")
    other.synchronize(timeout=60)
    with pytest.raises(ep.DeviceError, match="the copy failed") as caught:
        event.synchronize(timeout=60)
    assert (caught.value.op, caught.value.sequence, caught.value.node) == ("upload", 2, None)
    with pytest.raises(ep.DeviceError, match="the copy failed"):
        stream.synchronize()
    stream.synchronize()
    host, elsewhere = bytearray(64), bytearray(64)
    stream.download(host, memory)
    stream.download(elsewhere, beside)
    stream.synchronize()
    assert (bytes(host), bytes(elsewhere), seen) == (b"a" * 64, b"d" * 64, [])
    stream.close()
    other.close()
