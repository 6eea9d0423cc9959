"""Devices: their number, their promises, and how a process that has them ends or forks."""

from __future__ import annotations

import pytest
from ep.plugin.claims import read_claims

import ep

WORK = """
import os
import ep
import numpy as np
from ep_primitives import BroadcastBinary

def work(name):
    device = ep.device(name)
    stream, x = device.stream(), np.arange(5000, dtype=np.float32)
    spec = ep.TensorSpec.of(x)
    a, out = device.allocate(x.nbytes), device.allocate(x.nbytes)
    stream.upload(a, x)
    BroadcastBinary.infer("add", spec, spec).on(device)(stream, a=a, b=a, out=out)
    host = np.empty_like(x)
    stream.download(host, out)
    stream.synchronize(timeout=60)
    return bool((host == 2 * x).all())
"""


def test_two_devices_by_default_and_as_many_as_asked_for(device, program):
    show = 'import ep; print([device.name for device in ep.provider("sim").devices()])'
    assert program(show).stdout.strip() == "['sim:0', 'sim:1']"
    assert program(show, EP_SIM_DEVICES="3").stdout.strip() == "['sim:0', 'sim:1', 'sim:2']"


def test_info_is_its_own(device):
    cpu = ep.device("cpu:0").info
    assert device.info.memory == 1 << 30
    assert device.info.dtypes == cpu.dtypes
    assert "host-memory" not in device.info.features
    assert device.info.alignment != cpu.alignment
    with pytest.raises(ep.UnsupportedError, match="does not reach"):
        device.wrap_host(0, 1, object())


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("EP_SIM_DEVICES", "0"),
        ("EP_SIM_DEVICES", "two"),
        ("EP_SIM_SEED", "-1"),
        ("EP_SIM_MEMORY", "1T"),
        ("EP_SIM_MEMORY", "1K"),
        ("EP_SIM_PATIENCE", "0"),
        ("EP_SIM_FAIL", "launch"),
        ("EP_SIM_FAIL", "launch:0"),
        ("EP_SIM_FAIL", "fill:3"),
    ],
)
def test_wrong_variables_are_a_reason(program, variable, value):
    show = """
import ep
try:
    ep.device("sim:0")
except ep.UnavailableError as error:
    print(error)
"""
    reason = program(show, **{variable: value}).stdout
    assert variable in reason
    assert value in reason


def test_without_its_c_part_or_the_cpu_it_is_unavailable_with_a_reason(program):
    show = """
import ep
try:
    ep.device("sim:0")
except ep.UnavailableError as error:
    print(error)
"""
    assert "EP_BUILD_CPU=0" in program('import sys; sys.modules["ep_sim._native"] = None\n' + show).stdout
    assert "switched off by EP_DISABLE=cpu" in program(show, EP_DISABLE="cpu").stdout


@pytest.mark.parametrize("first", ["cpu:0", "sim:0"])
def test_process_that_ends_with_work_under_way_finishes_it(device, program, first):
    done = program(
        WORK
        + f"""
ep.device("{first}")
device = ep.device("sim:0")
stream, x = device.stream(), np.ones(100_000, np.float32)
memory, host = device.allocate(x.nbytes), np.zeros_like(x)
stream.upload(memory, x)
add = BroadcastBinary.infer("add", ep.TensorSpec.of(x), ep.TensorSpec.of(x)).on(device)
for _ in range(20):
    add(stream, a=memory, b=memory, out=memory)
stream.download(host, memory)
import atexit
stream.twin.enqueue("last", lambda lane: print(int(host[0]), flush=True))
"""
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "1048576\n", "")


@pytest.mark.parametrize("count", [1, 300])
def test_process_that_ends_with_streams_and_memories_open_is_quiet(device, program, count):
    done = program(
        WORK
        + f"""
kept = [ep.device("sim:1").stream() for _ in range({count})], [ep.device("sim:0").allocate(100) for _ in range({count})]
assert work("sim:0") and work("sim:1")
"""
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_forked_child_gets_devices_of_its_own(device, program):
    done = program(
        WORK
        + """
assert work("sim:0")
device = ep.device("sim:0")
stream, memory = device.stream(), device.allocate(64)
stream.fill(memory, b"a")
child = os.fork()
if child == 0:
    try:
        stream.fill(memory, b"b")
    except ep.ClosedError:
        os._exit(0 if work("sim:0") and work("sim:1") else 1)
    os._exit(2)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
host = bytearray(64)
stream.download(host, memory)
stream.synchronize(timeout=60)
print(bytes(host) == b"a" * 64, work("sim:0"))
"""
    )
    assert (done.stdout.strip(), done.stderr) == ("True True", "")


def test_closing_and_opening_gives_everything_back(device, program):
    done = program(
        WORK
        + """
import gc, threading
def mappings():
    return sum("memfd:sim" in line for line in open("/proc/self/maps"))
for _ in range(5):
    assert work("sim:0")
    gc.collect()
    for name in ("sim:0", "sim:1"):
        device = ep.device(name)
        device.synchronize()
        device.close()
print(mappings(), [thread.name for thread in threading.enumerate()])
"""
    )
    assert (done.stdout.strip(), done.stderr) == ("0 ['MainThread']", "")


def test_timeout_leaves_the_stream_working(device):
    stream, gate = device.stream(), []
    stream.twin.enqueue("hold", lambda _: None, gate=lambda: bool(gate))
    with pytest.raises(ep.TimeoutError):
        stream.synchronize(timeout=0.01)
    assert not stream.is_idle
    gate.append(True)
    stream.synchronize(timeout=60)
    assert stream.is_idle
    stream.close()


def test_claims_hold_what_the_cpu_claims(device):
    claimed = [read_claims(found.provider.manifest.claims).entries for found in (device, ep.device("cpu:0"))]
    ours, theirs = ({entry.cells for entry in entries if "runtime" not in entry.cells} for entries in claimed)
    assert ours == theirs


THREADS = """
import threading
import ep
device = ep.device("sim:0")
streams = [device.stream() for _ in range({streams})]
memory, refused = device.allocate(64), []

def drive(stream):
    for _ in range(3000):
        if refused:
            return
        try:
            stream.fill(memory, b"a")
        except ValueError as error:
            refused.append(str(error))

threads = [threading.Thread(target=drive, args=(streams[place % len(streams)],)) for place in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
device.allocate(64)  # its fences come from this thread, and that is no mistake
print(*refused[:1])
"""


def test_two_threads_on_one_stream_are_refused_in_validation_mode(device, program):
    assert "is in use by another thread" in program(THREADS.format(streams=1), EP_VALIDATE="1").stdout
    assert program(THREADS.format(streams=2), EP_VALIDATE="1").stdout == "\n"
    assert program(THREADS.format(streams=1)).stdout == "\n"


def test_leak_report_names_what_is_open_here_and_not_what_it_stands_on(device, program):
    done = program(
        """
import ep
ep.device("cpu:0")
device = ep.device("sim:0")
device.allocate(100).close()
kept = device.allocate(50)
""",
        EP_LEAKS="1",
    )
    assert "sim:0: never closed: 1 memory of 50 bytes" in done.stderr
    assert "cpu:0" not in done.stderr


def test_queues_of_others_or_of_closed_streams_are_not_wrapped(device, other):
    stream = device.stream()
    queue = stream.twin.dlpack_stream()
    with pytest.raises(ValueError, match="is of sim:0"):
        other.wrap_stream(queue, owner=stream)
    with pytest.raises(TypeError, match="is no queue of sim:0"):
        device.wrap_stream(7, owner=stream)
    wrapped = device.wrap_stream(queue, owner=stream)
    stream.close()
    memory = device.allocate(8)
    wrapped.fill(memory, b"\1")
    wrapped.close()
    with pytest.raises(ValueError, match="of 0 open streams"):
        device.wrap_stream(queue, owner=stream)


def test_fence_of_another_thread_is_no_part_of_a_graph(device):
    stream, memory = device.stream(), device.allocate(64)
    events = []

    def enqueue(taker):
        taker.fill(memory, b"\1")
        events.append(
            ep.Event(stream, stream.twin.record(timed=False), is_timed=False)
        )  # as the retire list does, from whichever thread frees memory

    stream.twin.together("graph", enqueue)
    (event,) = events
    device.twin.scheduler.reseed(1)
    event.synchronize(timeout=60)
    stream.synchronize(timeout=60)
    assert [op for _, _, op in device.twin.history()][-1] == "graph"
    stream.close()
