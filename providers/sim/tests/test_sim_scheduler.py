"""The order of work: every legal order happens for some seed, no illegal one does, and a seed reproduces its order."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from ep_primitives import ElementwiseUnary, Quantize

import ep

SEEDS = range(40)

PROGRAM = """
import ep
import numpy as np
devices = [ep.device("sim:0"), ep.device("sim:1")]
streams = [device.stream() for device in devices for _ in range(3)]
memories = [stream.device.allocate(1000) for stream in streams]
events = []
for turn in range(30):
    for place, (stream, memory) in enumerate(zip(streams, memories)):
        stream.fill(memory, bytes([turn]))
        if turn % 3 == place % 3:
            events.append(stream.record())
        if turn % 4 == place % 4 and events:
            stream.wait(events[-1])
    if turn % 10 == 9:
        streams[turn % 6].synchronize()
        events[-1].is_done
        extra = devices[0].allocate(100 + turn)
        extra.close()
for stream in streams:
    stream.close()
print(devices[0].twin.history())
"""


def mixed(device, first, second):
    """Return the bytes after two streams have overwritten one memory without order."""
    memory, host = device.allocate(64), bytearray(64)
    first.fill(memory, b"1")
    second.fill(memory, b"2")
    first.synchronize()
    second.synchronize()
    first.download(host, memory)
    first.synchronize()
    return bytes(host[:1])


def test_streams_without_order_are_done_in_either(patient):
    outcomes = set()
    for seed in SEEDS:
        patient.twin.reseed(seed)
        first, second = patient.stream(), patient.stream()
        outcomes.add(mixed(patient, first, second))
        first.close()
        second.close()
    assert outcomes == {b"1", b"2"}


def copied(source, target, *, with_wait):
    """Return the result of a copy on one device beside a fill on another one, with or without an event between them."""
    writer, reader = source.stream(), target.stream()
    there, here, host = source.allocate(4096), target.allocate(4096), bytearray(4096)
    writer.fill(there, b"o")
    writer.synchronize()
    writer.fill(there, b"n")
    if with_wait:
        reader.wait(writer.record())
    reader.copy(here, there)
    reader.download(host, here)
    reader.synchronize()
    writer.synchronize()
    writer.close()
    reader.close()
    return bytes(host[:1])


def test_devices_without_order_are_done_in_either_and_with_an_event_in_one(device, patient, other):
    assert other.can_copy_from(device)
    assert not other.can_access(device)
    free, ordered = set(), set()
    for seed in SEEDS:
        device.twin.reseed(seed)
        free.add(copied(device, other, with_wait=False))
        ordered.add(copied(device, other, with_wait=True))
    assert free == {b"o", b"n"}
    assert ordered == {b"n"}


def test_upload_reads_its_source_and_download_writes_its_target_when_the_stream_gets_there(patient):
    late_reads = late_writes = 0
    for seed in SEEDS:
        patient.twin.reseed(seed)
        stream, memory = patient.stream(), patient.allocate(100)
        source, target = np.zeros(100, np.uint8), np.zeros(100, np.uint8)
        stream.upload(memory, source)
        stream.download(target, memory)
        source[:] = 1  # the caller's mistake
        target[:] = 2  # the caller's mistake
        stream.synchronize()
        late_reads += int(target[0] == 1)
        late_writes += int(target[0] != 2)
        stream.close()
    assert late_reads > len(SEEDS) // 2
    assert late_writes > len(SEEDS) // 2


def test_stream_is_in_order_for_every_seed(device, reader):
    for seed in SEEDS:
        device.twin.reseed(seed)
        stream, memory = device.stream(), device.allocate(256)
        for value in range(50):
            stream.fill(memory[value : 256 - value], bytes([value]))
        stream.close()
        assert reader(memory)[128] == 49


def test_seed_tells_the_order(device, program):
    def history(seed):
        done = program(PROGRAM, EP_SIM_SEED=str(seed), EP_SIM_PATIENCE="60000")
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert history(3) == history(3)
    assert len({history(seed) for seed in range(4)}) == 4


def test_reseeding_tells_the_order_too(patient):
    def history(seed):
        patient.synchronize()
        streams = [patient.stream() for _ in range(4)]
        memory = patient.allocate(64)
        patient.twin.reseed(seed)
        for value in range(20):
            for stream in streams:
                stream.fill(memory, bytes([value]))
        for stream in streams:
            stream.synchronize()
        order = [
            (streams.index(next(s for s in streams if s.name == name)), op) for name, _, op in patient.twin.history()
        ]
        for stream in streams:
            stream.close()
        return order

    assert history(7) == history(7)
    assert history(7) != history(8)


def test_higher_priority_goes_first(device):
    memory = device.allocate(64)
    for seed in SEEDS:
        device.twin.reseed(seed)
        low, high = device.stream(priority=-1), device.stream(priority=5)
        gate = []
        for stream in (low, high):
            stream.twin.enqueue("hold", lambda _: None, gate=lambda: bool(gate))  # noqa: B023 - called in this turn of the loop
            for _ in range(10):
                stream.fill(memory, b"\0")
        gate.append(True)
        low.synchronize()
        high.synchronize()
        assert [name for name, _, op in device.twin.history() if op == "fill"] == [high.name] * 10 + [low.name] * 10
        low.close()
        high.close()


def test_tasks_of_two_streams_overlap_now_and_then(device):
    under_way, most = [], []

    def linger(_):
        under_way.append(None)
        time.sleep(0.0005)
        most.append(len(under_way))
        under_way.pop()

    first, second = device.stream(), device.stream()
    for _ in range(100):
        first.twin.enqueue("linger", linger)
        second.twin.enqueue("linger", linger)
    first.close()
    second.close()
    assert max(most) == 2


def test_device_goes_on_although_nobody_looks(device):
    stream, begun = device.stream(), threading.Event()
    stream.twin.enqueue("begin", lambda _: begun.set())
    assert begun.wait(60)
    stream.close()


def test_wait_for_an_event_of_another_provider_holds_back_the_stream_and_not_the_host(device, reader):
    class Never(ep.spi.Event):
        done = False

        def is_done(self):
            return self.done

    cpu = ep.device("cpu:0").stream()
    event, memory = ep.Event(cpu, Never(), is_timed=False), device.allocate(64)
    stream, free = device.stream(), device.stream()
    before = device.degraded["wait"]
    stream.wait(event)
    stream.fill(memory, b"\7")
    free.fill(memory[32:], b"\1")
    free.close()
    with pytest.raises(ep.TimeoutError):
        stream.synchronize(timeout=0.05)
    event.twin.done = True
    stream.close()
    assert (reader(memory) == 7).all()
    assert device.degraded["wait"] == before


def test_lookers_of_many_threads_end(device):
    failures = []

    def drive(value):
        stream, memory, host = device.stream(), device.allocate(512), bytearray(512)
        for turn in range(30):
            stream.fill(memory, bytes([value + turn]))
            stream.download(host, memory)
            stream.synchronize()
            if bytes(host) != bytes([value + turn]) * 512:
                failures.append((value, turn))
        stream.close()
        memory.close()

    threads = [threading.Thread(target=drive, args=(10 * place,)) for place in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures
    assert not any(thread.is_alive() for thread in threads)


def test_clocks_of_devices_differ_and_go_forward(device, other):
    events = []
    for stream in (device.stream(), other.stream()):
        first, second = stream.record(timed=True), stream.record(timed=True)
        stream.synchronize()
        assert second.seconds_since(first) >= 0
        events.append(first)
        stream.close()
    assert abs(events[0].twin.nanoseconds - events[1].twin.nanoseconds) > 10**9
    with pytest.raises(ValueError, match="clocks differ"):
        events[1].seconds_since(events[0])


def test_call_holds_back_its_own_stream_and_no_other(device, reader):
    stream, free, memory = device.stream(), device.stream(), device.allocate(64)
    opened, threads = threading.Event(), []

    def hold():
        threads.append(threading.current_thread().name)
        assert opened.wait(60)

    stream.call(hold)
    stream.fill(memory, b"\1")
    free.fill(memory, b"\2")
    free.synchronize(timeout=60)
    assert (reader(memory) == 2).all()
    with pytest.raises(ep.TimeoutError):
        stream.synchronize(timeout=0.01)
    opened.set()
    stream.close()
    free.close()
    assert (reader(memory) == 1).all()
    assert threads == ["sim:0 call"]


def test_exception_of_a_call_is_raised_by_the_next_synchronisation(device):
    stream = device.stream()
    stream.call(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError) as caught:
        stream.synchronize()
    assert caught.value.__notes__ == [f"enqueue 1 of {stream.name}: call"]
    stream.synchronize()
    stream.close()


def test_graph_is_one_task_among_others(device, patient, reader):
    stream, other, memory = device.stream(), device.stream(), device.allocate(64)
    with stream.capture() as graph:
        stream.fill(memory, b"\1")
        stream.fill(memory[:32], b"\2")
        stream.fill(memory[:16], b"\3")
    seen = set()
    for seed in SEEDS:
        device.twin.reseed(seed)
        graph.launch(stream)
        other.fill(memory, b"\4")
        stream.synchronize()
        other.synchronize()
        assert [op for _, _, op in device.twin.history() if op != "record"].count("graph") == 1
        assert len(device.twin.history()) == 2
        seen.add(tuple(reader(memory)[[0, 16, 32]]))
    assert seen == {(3, 2, 1), (4, 4, 4)}
    assert not device.degraded["graph"]
    graph.close()
    stream.close()
    other.close()


def test_step_of_a_lowering_is_one_task_of_its_own_name(device):
    x, scale = ep.TensorSpec("float32", (4,)), ep.TensorSpec("float32", (2,))
    quantize = Quantize.infer(x, scale, dtype="int8", axis=0, block=3).on(device)  # which leaves a rest
    assert len(quantize.stages) > 1
    stream = device.stream()
    memories = {"x": device.allocate(16), "scale": device.allocate(8), "out": device.allocate(4)}
    for name in ("x", "scale"):
        stream.fill(memories[name], np.float32(1).tobytes())
    step = quantize.bind(**memories)
    step(stream)
    stream.synchronize()
    device.twin.reseed(0)  # and forget what was done
    step(stream)
    stream.synchronize()
    assert [op for _, _, op in device.twin.history() if op != "record"] == ["quantize"]
    step.close()
    stream.close()


def test_graph_ends_at_the_node_that_failed_and_names_it(device):
    stream, x = device.stream(), np.arange(4, dtype=np.float32)
    memory = device.allocate(x.nbytes)
    primitive = ElementwiseUnary.infer("negative", ep.TensorSpec.of(x)).on(device)
    stream.upload(memory, x)
    with stream.capture() as graph:
        for _ in range(3):
            primitive(stream, x=memory, out=memory)
    device.twin.fail(launch=5)
    for _ in range(2):
        graph.launch(stream)
    with pytest.raises(ep.DeviceError, match="as was asked for") as caught:
        stream.synchronize()
    error = caught.value
    assert (error.op, error.stream, error.sequence, error.node) == ("negative", stream.name, 3, 1)
    assert f"enqueue 3 of {stream.name}, node 1 of its graph: negative" in str(error)
    host = np.empty_like(x)
    stream.download(host, memory)
    stream.close()
    assert (host == x).all()  # four times the negative
    graph.close()
