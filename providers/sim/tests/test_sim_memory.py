"""Memory: only the workers reach it, and an access from elsewhere is reported."""

from __future__ import annotations

import itertools
import re
import signal

import numpy as np
import pytest
from ep_primitives import TopK

import ep

HOST = """
import ctypes, faulthandler, sys
import ep
{before}
device = ep.device("sim:0")
memory = device.allocate(5000)
at = memory.handle.address
{touch}
print("nobody stopped it")
"""

TOUCHES = {
    "read": "ctypes.string_at(at + 17, 1)",
    "write": "ctypes.memset(at + 17, 0, 1)",
    "view": "(ctypes.c_char * 5000).from_address(at)[17]",
}


def report_of(done):
    assert done.returncode == -signal.SIGSEGV, done.stderr
    assert "nobody stopped it" not in done.stdout
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("ep_sim:")]
    return line


@pytest.mark.parametrize("touch", TOUCHES.values(), ids=TOUCHES)
def test_host_that_touches_device_memory_dies_and_is_named(device, program, touch):
    line = report_of(program(HOST.format(before="", touch=touch)))
    assert re.fullmatch(
        r"ep_sim: the host touched memory of sim:0 at 0x[0-9a-f]+ \(allocation of 5000 bytes, offset 17\)", line
    )


@pytest.mark.parametrize(
    ("before", "touch"),
    [
        ("faulthandler.enable()", TOUCHES["read"]),
        ("", f"faulthandler.enable(); device.allocate(77_777); {TOUCHES['read']}"),
    ],
    ids=["before", "afterwards"],
)
def test_handler_of_python_has_its_say_as_well(device, program, before, touch):
    done = program(HOST.format(before=before, touch=touch))
    assert done.stderr.count("Fatal Python error: Segmentation fault") == 1
    assert report_of(done)


def test_fault_elsewhere_is_none_of_ours(device, program):
    done = program(HOST.format(before="", touch="ctypes.string_at(8, 1)"))
    assert done.returncode == -signal.SIGSEGV
    assert "ep_sim" not in done.stderr


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("base + span", r"\(allocation of 5000 bytes, \d+ bytes behind its end\)"),
        ("base - 1", r"\(allocation of 5000 bytes, \d+ bytes before it\)"),
    ],
)
def test_pages_around_an_allocation_are_guards_for_the_workers_too(device, program, expression, words):
    touch = f"""
handle = memory.handle
span, base = handle.span, handle.shadow - handle.offset + handle.start
stream = device.stream()
stream.twin.enqueue("stray", lambda lane: ctypes.memset({expression}, 0, 1))
stream.synchronize()
"""
    line = report_of(program(HOST.format(before="", touch=touch)))
    assert line.startswith("ep_sim: work of the device touched memory of sim:0")
    assert re.search(words, line)


def test_freed_memory_is_protected_and_its_report_says_so(device, program):
    touch = "memory.close(); device.synchronize(); device.trim(); ctypes.string_at(at + 17, 1)"
    line = report_of(program(HOST.format(before="", touch=touch)))
    assert line.endswith("(freed allocation of 5000 bytes, offset 17)")


def test_workers_that_come_late_fault_on_freed_memory(device, program):
    touch = """
shadow = memory.handle.shadow
device.twin.free(memory.handle, memory.kind)
stream = device.stream()
stream.twin.enqueue("late", lambda lane: ctypes.memset(shadow, 0, 1))
stream.synchronize()
"""
    line = report_of(program(HOST.format(before="", touch=touch)))
    assert line.startswith("ep_sim: work of the device")
    assert line.endswith("(freed allocation of 5000 bytes, offset 0)")


def test_fresh_memory_is_poisoned(device, reader):
    for _ in range(3):
        memory = device.allocate(10_000)
        assert (reader(memory) == 0xFF).all()
        stream = device.stream()
        stream.fill(memory, b"\1")
        stream.close()
        device.twin.free(memory.handle, memory.kind)  # past the pool, which would keep it for its next use
        memory._block.lease_ref.segment = None


def test_handle_is_opaque(device):
    handle = device.allocate(64).handle
    with pytest.raises(TypeError):
        handle + 1
    with pytest.raises(TypeError):
        int(handle)


def test_allocations_have_a_page_between_them_and_addresses_come_back_late(device):
    rng, live, seen, before = np.random.default_rng(1), [], set(), device.twin._arena.in_use
    for _ in range(600):
        if live and rng.random() < 0.5:
            device.twin.free(live.pop(rng.integers(len(live))), ep.MemoryKind.DEVICE)
        else:
            handle = device.twin.allocate(int(rng.integers(1, 20_000)), ep.MemoryKind.DEVICE)
            assert handle.address % device.info.alignment == 0
            assert handle.address not in seen
            seen.add(handle.address)
            live.append(handle)
    places = sorted((handle.start, handle.start + handle.span) for handle in live)
    assert all(end + 4096 <= start for (_, end), (start, _) in itertools.pairwise(places))
    for handle in live:
        device.twin.free(handle, ep.MemoryKind.DEVICE)
    assert device.twin._arena.in_use == before


def test_addresses_are_used_again_when_all_were_used(program):
    done = program(
        """
import ep
device = ep.device("sim:0")
kept = device.twin.allocate(5000, ep.MemoryKind.DEVICE)
most = max(device.twin._arena._reserve // 60_000, 100)
places = set()
for _ in range(3 * most):
    handle = device.twin.allocate(60_000, ep.MemoryKind.DEVICE)
    assert not kept.start - 4096 < handle.start + handle.span <= kept.start or handle.start > kept.start
    places.add(handle.start)
    device.twin.free(handle, ep.MemoryKind.DEVICE)
print(len(places) < 3 * most)
""",
        EP_SIM_MEMORY="64K",
    )
    assert done.stdout.strip() == "True", done.stderr


def test_small_memory_runs_out_and_the_device_works_on(program):
    done = program(
        """
import ep
device = ep.device("sim:1")
kept = []
try:
    while True:
        kept.append(device.allocate(50_000))
except ep.OutOfMemoryError as error:
    print(len(kept), error.requested, error.free)
kept.pop().close()
stream, memory = device.stream(), device.allocate(40_000)
stream.fill(memory, b"ab")
host = bytearray(40_000)
stream.download(host, memory)
stream.synchronize()
print(bytes(host) == b"ab" * 20_000)
""",
        EP_SIM_MEMORY="1M",
    )
    assert done.stdout.split() == ["20", "50000", "48576", "True"], done.stderr


def test_freeing_what_enqueued_work_uses_is_reported(device, capfd):
    stream, memory = device.stream(), device.allocate(4096)
    stream.fill(memory, b"\0")
    handle = memory.handle
    device.twin.free(handle, memory.kind)
    memory._block.lease_ref.segment = None
    with pytest.raises(ep.DeviceError, match="was freed while enqueued work still uses it"):
        stream.synchronize()
    assert device.twin.complaints.said.pop().endswith("was freed while enqueued work still uses it")
    assert "ep_sim: <Allocation 4096 bytes" in capfd.readouterr().err
    stream.close()


def test_bytes_written_beside_an_allocation_are_reported(device, capfd):
    stream, memory = device.stream(), device.allocate(1000)
    handle, lib = memory.handle, device.twin.native.lib
    stream.twin.enqueue("stray", lambda _: lib.ep_sim_fill(handle.shadow + 998, 10, b"\0", 1))
    stream.synchronize()
    device.twin.free(handle, memory.kind)
    memory._block.lease_ref.segment = None
    with pytest.raises(ep.DeviceError, match=r"8 bytes beside .* were overwritten"):
        stream.synchronize()
    assert device.twin.complaints.said.pop().startswith("8 bytes")
    assert "ep_sim: 8 bytes" in capfd.readouterr().err
    stream.close()


@pytest.mark.parametrize("kind", [ep.MemoryKind.PINNED, ep.MemoryKind.SHARED])
def test_host_reaches_pinned_and_shared_memory_and_no_other(device, reader, kind):
    stream, memory = device.stream(), device.allocate(100, kind)
    stream.fill(memory, b"\5")
    stream.synchronize()
    assert bytes(memory[10:20].host()) == b"\5" * 10
    memory.host()[0] = 9
    assert list(reader(memory)[:2]) == [9, 5]
    with pytest.raises(ep.UnsupportedError, match=r"memory.host: the host does not reach"):
        device.allocate(100).host()
    stream.close()


def test_memory_that_waits_for_its_next_use_is_protected_and_comes_back_poisoned(device, program):
    work = """
import ctypes
import ep
device = ep.device("sim:0")
memory = device.allocate(3000, ep.MemoryKind.SHARED)
stream, view = device.stream(), memory.host()
stream.fill(memory, b"\\1")
stream.synchronize()
handle = memory.handle
memory.close()
device.synchronize()
again = device.allocate(3000, ep.MemoryKind.SHARED) if {reused} else None
assert again is None or again.handle is handle
print(view[0], view[2999])
"""
    done = program(work.format(reused=True))
    assert (done.stdout, done.stderr) == ("255 255\n", "")
    line = report_of(program(work.format(reused=False) + 'print("nobody stopped it")'))
    assert line.startswith("ep_sim: the host or work of the device touched memory of sim:0 at 0x")
    assert line.endswith("(freed allocation of 3000 bytes, offset 0)")


def test_giving_back_what_enqueued_work_uses_is_reported(device, capfd):
    stream, memory = device.stream(), device.allocate(4321)
    stream.fill(memory, b"\0")
    device.twin.park(memory.handle, memory.kind)
    with pytest.raises(ep.DeviceError, match="was given back while enqueued work still uses it"):
        stream.synchronize()
    device.twin.complaints.said.clear()
    assert "given back" in capfd.readouterr().err
    stream.close()


def test_memory_info_knows_what_is_free(device):
    before = device.memory_info()
    memory = device.allocate(7 << 20)
    after = device.memory_info()
    assert (before.total, after.total) == (device.info.memory, device.info.memory)
    assert before.free - after.free == after.reserved - before.reserved
    memory.close()


def test_retire_list_without_fences_is_found_with_most_seeds(device, patient, monkeypatch, capfd):
    monkeypatch.setattr(ep.Stream, "_fence", lambda _: None)
    found = 0
    for seed in range(10):
        device.twin.reseed(seed)
        stream, memory, seen = device.stream(), device.allocate(5000), device.allocate(5000)
        stream.fill(memory, b"k")
        stream.copy(seen, memory)
        memory.close()
        device.allocate(1).close()
        try:
            stream.synchronize()
        except ep.DeviceError as error:
            found += "was given back while enqueued work still uses it" in str(error)
        stream.close()
    assert found >= 7
    assert len(device.twin.complaints.said) == found
    device.twin.complaints.said.clear()
    assert capfd.readouterr().err


@pytest.mark.parametrize(("twin", "word"), [("park", "given back"), ("free", "freed")])
def test_giving_back_twice_is_reported(device, capfd, twin, word):
    handle = device.twin.allocate(100, ep.MemoryKind.DEVICE)
    for _ in range(2):
        getattr(device.twin, twin)(handle, ep.MemoryKind.DEVICE)
    assert device.twin.complaints.take().args[0].endswith(f"was {word}, and that is not the first time")
    assert device.twin.complaints.take() is None
    device.twin.complaints.said.clear()
    assert word in capfd.readouterr().err


def test_scratch_begins_where_the_kernel_of_the_cpu_wants_it(device):
    x = np.arange(240, dtype=np.float32).reshape(3, 80)
    primitive = TopK.infer("largest", x, 5).on(device)
    given, made = device.tensor(x), {name: device.empty(spec) for name, spec in primitive.descriptor.outputs.items()}
    for begin in range(0, 1024, device.info.alignment):
        scratch = device.allocate(begin + primitive.scratch_nbytes)[begin:]
        primitive(device.stream(), x=given, **made, scratch=scratch)
        device.synchronize()
        assert np.array_equal(made["indices"].numpy(), [[79, 78, 77, 76, 75]] * 3)
