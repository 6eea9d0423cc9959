"""Tensors of EP for other libraries: whose stream waits, what is kept, what is refused."""

from __future__ import annotations

import gc
import os
import threading
from functools import partial

import capsules
import manual
import numpy as np
import pytest
from ep.exchange import dlpack

import ep

BYTES = ep.TensorSpec("uint8", (8,))


def far(kind, *, is_opaque=False):
    """Return a device whose memory is of a DLPack device type that the host does not reach."""
    provider = manual.provider_over(manual.ManualProvider())
    provider.twin.devices = lambda: [manual.DLPackDevice(ep.DeviceInfo("Far", "Test"), kind, is_opaque=is_opaque)]
    return provider.devices()[0]


def exported(device):
    """Return an export behind work that is not done, and its stream."""
    stream, memory = device.stream(), device.allocate(8)
    stream.fill(memory, b"\7")
    return stream.export(memory, BYTES), stream


def test_the_host_waits_where_consumers_have_no_streams(host):
    shown, stream = exported(host)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(np.from_dlpack(shown).tolist()))
    thread.start()
    thread.join(0.1)
    assert seen == []
    stream.twin.advance()
    thread.join(60)
    assert seen == [[7] * 8]


def test_nobody_waits_for_minus_one(host):
    for device in (host, far(2)):
        shown, stream = exported(device)
        shown.__dlpack__(stream=-1)
        assert not shown.event.is_done
        assert stream.twin.queue
        stream.twin.advance()
        assert shown.event.is_done


def test_work_that_failed_is_heard_by_the_consumer(host):
    shown, stream = exported(host)
    stream.twin.advance()
    stream.twin.ledger.failed(None, ep.DeviceError("broken"))
    with pytest.raises(ep.DeviceError, match="broken"):
        shown.__dlpack__()


def test_a_stream_of_ep_waits_on_the_device():
    device = far(2)
    shown, _ = exported(device)
    consumer = device.stream()
    shown.__dlpack__(stream=consumer)
    assert consumer.twin.waits == [shown.event]


@pytest.mark.parametrize(
    ("kind", "given", "waits"),
    [(2, None, 1), (2, 1, 1), (2, 2, 2), (2, 7, 7), (2, 1 << 40, 1 << 40), (10, None, 0), (10, 0, 0), (10, 7, 7)],
)
def test_streams_of_cuda_and_rocm_wait_by_their_numbers(kind, given, waits):
    device = far(kind)
    shown, _ = exported(device)
    shown.__dlpack__(stream=given)
    assert list(device.twin.queues) == [waits]
    queue = device.twin.queues[waits]
    assert queue.waits == [shown.event]
    assert queue.closed


@pytest.mark.parametrize(("kind", "given"), [(2, 0), (10, 1), (10, 2)])
def test_numbers_that_cuda_and_rocm_leave_open_are_refused(kind, given):
    device = far(kind)
    shown, _ = exported(device)
    with pytest.raises(ValueError, match=rf"stream {given} is ambiguous .* type {kind}"):
        shown.__dlpack__(stream=given)
    assert not device.twin.queues


def test_what_is_no_stream_is_refused(host):
    for device in (host, far(2)):
        shown, _ = exported(device)
        with pytest.raises(ValueError, match="no stream of"):
            shown.__dlpack__(stream="main")
    shown, _ = exported(host)
    for number in (0, 1, 2, 77):
        with pytest.raises(ValueError, match="give None, -1 or a Stream"):
            shown.__dlpack__(stream=number)


def test_the_generation_is_the_consumers(host):
    shown, stream = exported(host)
    stream.twin.advance()
    names = {None: b"dltensor", (0, 8): b"dltensor", (1, 0): b"dltensor_versioned", (2, 3): b"dltensor_versioned"}
    for version, name in names.items():
        assert capsules.name(shown.__dlpack__(max_version=version)) == name
    with pytest.raises(TypeError, match="max_version is 1"):
        shown.__dlpack__(max_version=1)


def test_copies_and_other_devices_are_buffer_errors(host):
    shown, stream = exported(host)
    stream.twin.advance()
    shown.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError, match="nothing is copied"):
        shown.__dlpack__(copy=True)
    with pytest.raises(BufferError, match=r"2:1 was asked for; .*stream\.download"):
        shown.__dlpack__(dl_device=(2, 1))
    with pytest.raises(TypeError, match="dl_device is 3, needs"):
        shown.__dlpack__(dl_device=3)


def test_read_only_is_said_or_refused(host):
    stream = host.stream()
    memory, spec = ep.view(b"abcd", stream)
    shown = stream.export(memory, spec)
    tensor, _ = dlpack.take(shown.__dlpack__(max_version=(1, 0)))
    assert tensor.is_read_only
    with pytest.raises(BufferError, match="read-only"):
        shown.__dlpack__()
    back, _ = ep.view(shown, stream)
    with pytest.raises(ValueError, match="read-only"):
        stream.fill(back, b"\0")
    assert memory.host().readonly


def test_addresses_take_the_offset_in_and_objects_leave_it_beside(host):
    spec = ep.TensorSpec("int16", (2, 3), (8, -1), 4)
    # It is the provider that says which they are, and no list of device types.
    for device in (host, far(2), far(4), far(4, is_opaque=True), far(12, is_opaque=True)):
        memory = device.allocate(256)
        base = device.twin.address(memory.handle)
        tensor, _ = dlpack.take(device.stream().export(memory[64:], spec).__dlpack__(stream=-1))
        begin = 64 + 2 * 4
        assert (tensor.data, tensor.begin) == ((base, begin) if device.twin.is_opaque else (base + begin, 0))
        assert (tensor.device, tensor.strides) == (device.twin.dlpack_device(), (8, -1))


def test_nothing_has_no_address():
    device = far(4, is_opaque=True)
    for memory in (device.allocate(0), device.allocate(64)[8:]):
        shown = device.stream().export(memory, ep.TensorSpec("float32", (3, 0), None, 0))
        tensor, _ = dlpack.take(shown.__dlpack__(stream=-1))
        assert (tensor.data, tensor.begin, tensor.shape) == (0, 0, (3, 0))


def test_bytes_are_kept_until_the_last_consumer_is_gone(host):
    stream, memory = host.stream(), host.allocate(8)
    stream.fill(memory, b"\7")
    stream.twin.advance()
    shown = stream.export(memory, BYTES)
    first, second = np.from_dlpack(shown), np.from_dlpack(shown)
    memory.close()
    del shown, first
    host.trim()
    assert host.twin.freed == []
    assert second.tolist() == [7] * 8
    with pytest.raises(ep.ClosedError):
        stream.fill(memory, b"\0")
    with pytest.raises(ep.EpError, match="memory of 8 bytes"):
        stream.close(), host.close()
    del second
    host.synchronize()
    host.trim()
    assert len(host.twin.freed) == 1


def test_consumers_of_many_threads_end_in_any_order(host):
    stream = host.stream()
    memories = [host.allocate(8) for _ in range(50)]
    shown = [stream.export(memory, BYTES) for memory in memories]
    kept, failures = [], []

    def consume(own):
        try:
            for _ in range(20):
                kept.extend(np.from_dlpack(one) for one in own)
                del kept[: len(kept) // 2]
        except BaseException as error:  # noqa: BLE001 - the test's thread reports it
            failures.append(error)

    threads = [threading.Thread(target=consume, args=(shown[start:],)) for start in (0, 10, 20, 30)]
    for thread in threads:
        thread.start()
    for memory in memories:
        memory.close()
    for thread in threads:
        thread.join(60)
    assert failures == []
    host.trim()
    assert host.twin.freed == []
    shown.clear()
    kept.clear()
    host.synchronize()
    host.trim()
    assert len(host.twin.freed) == 50


def test_a_view_of_an_export_keeps_it_too(host):
    stream, memory = host.stream(), host.allocate(8)
    view, spec = ep.view(stream.export(memory, BYTES), stream)
    assert spec == BYTES
    memory.close()
    stream.fill(view, b"\5")
    view.close()
    host.trim()
    assert host.twin.freed == []
    stream.twin.advance()
    host.synchronize()
    host.trim()  # the view's end lets go of the export, whose end frees the memory
    assert len(host.twin.freed) == 1
    assert bytes(host.twin.freed[0]) == b"\5" * 8


def test_a_view_of_an_export_shares_its_bytes(host):
    for device in (host, far(4, is_opaque=True)):
        stream, memory = device.stream(), device.allocate(64)
        shown = stream.export(memory[16:32], ep.TensorSpec("uint8", (8,), None, 4))
        stream.twin.advance()
        through = capsules.Producer(
            partial(shown.__dlpack__, max_version=(1, 0), stream=-1), device=device.twin.dlpack_device()
        )
        for obj, at in ((shown, 16), (through, 20)):
            view, _ = ep.view(obj, stream)
            assert memory._distance_to(view) == at
            with pytest.raises(ValueError, match="overlap"):
                stream.copy(memory[at + 1 : at + 1 + view.nbytes], view)


def test_misfits_are_refused_before_anything_is_enqueued(host):
    stream, memory = host.stream(), host.allocate(8)
    before = stream.twin.events
    with pytest.raises(ValueError, match=r"needs 12 bytes, the memory has 8"):
        stream.export(memory, ep.TensorSpec("float32", (3,)))
    with pytest.raises(ValueError, match="starts at byte 2, needs a multiple of the itemsize 4"):
        stream.export(memory[2:], ep.TensorSpec("float32", (1,)))
    with pytest.raises(TypeError, match="spec is tuple, needs a TensorSpec"):
        stream.export(memory, (8,))
    with pytest.raises(ValueError, match="is on manual:0"):
        stream.export(manual.provider_over(manual.ManualProvider()).devices()[0].allocate(8), BYTES)
    memory.close()
    with pytest.raises(ep.ClosedError, match=r"export: memory: .* was closed"):
        stream.export(memory, BYTES)
    hidden = manual.provider_over(manual.ManualProvider()).devices()[0]
    with pytest.raises(ep.UnsupportedError, match=r"no DLPack device type; use stream\.download"):
        hidden.stream().export(hidden.allocate(8), BYTES)
    assert stream.twin.events == before


def test_an_export_is_refused_in_a_forked_child(host):
    shown, stream = exported(host)
    stream.twin.advance()
    host._pid = os.getpid() + 1
    with pytest.raises(ep.ClosedError, match="before fork"):
        shown.__dlpack__()
    host._pid = os.getpid()
    gc.collect()
