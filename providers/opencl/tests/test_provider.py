"""The provider's parts beyond the contracts: offsets into opaque buffers, events, threads, programs, errors, devices."""

from __future__ import annotations

import linecache
import subprocess
import sys
import threading

import numpy as np
import pyopencl as cl
import pytest
from ep_opencl.compiler.program import FUSED, build_source
from ep_opencl.device import ClDevice
from ep_opencl.errors import failure
from ep_primitives import BroadcastBinary, ElementwiseUnary

import ep

_SPEC = ep.TensorSpec("float32", (1000,))
_ADD = BroadcastBinary.infer("add", _SPEC, _SPEC)


def python(code, **environment):
    """Run code in a fresh process and return its output."""
    import os

    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_views_reach_kernels_as_base_and_offset(device, stream, get):
    whole = device.allocate(4 * 4000)
    stream.upload(whole, np.arange(4000, dtype=np.float32))
    a, b, out = whole[4 : 4 * 1001], whole[4 * 1500 : 4 * 2500], whole[4 * 2900 : 4 * 3900]
    assert a.handle is whole.handle
    _ADD.on(device)(stream, a=a, b=b, out=out)
    have = get(whole, "float32")
    assert np.array_equal(have[2900:3900], np.arange(1, 1001, dtype=np.float32) + np.arange(1500, 2500))
    assert np.array_equal(have[:2900], np.arange(2900))
    assert np.array_equal(have[3900:], np.arange(3900, 4000))


def test_events_carry_device_time(device):
    stream = device.stream(timed=True)
    memory = device.allocate(1 << 24)
    before = stream.record(timed=True)
    for _ in range(4):
        stream.fill(memory, b"\1")
    after = stream.record(timed=True)
    after.synchronize()
    assert 0 < after.seconds_since(before) < 60
    stream.close()


def test_untimed_stream_does_not_profile(device):
    stream = device.stream(timed=False)
    assert not stream.twin.queue.properties & cl.command_queue_properties.PROFILING_ENABLE
    stream.close()


@pytest.mark.parametrize("bound", [False, True])
def test_one_primitive_serves_several_threads_at_once(device, bound):
    add = _ADD.on(device)
    failures = []

    def work(number):
        stream = device.stream()
        x = np.full(1000, number, np.float32)
        a, out = device.allocate(4000), device.allocate(4000)
        stream.upload(a, x)
        step = add.bind(a=a, b=a, out=out) if bound else (lambda s: add(s, a=a, b=a, out=out))
        for _ in range(300):
            step(stream)
        have = np.empty(1000, np.float32)
        stream.download(have, out)
        stream.synchronize()
        if not np.array_equal(have, 2 * x):
            failures.append((number, have[:4]))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_op_builds_one_program_for_all_sizes_and_strides(monkeypatch):
    import ep_opencl.device as module

    built = []
    build = module.build
    monkeypatch.setattr(module, "build", lambda device, program: built.append(program.name) or build(device, program))
    device = ep.Device(ep.provider("opencl"), 99, ClDevice(cl.get_platforms()[0].get_devices()[0]))
    for size in (1, 17, 1000):
        ElementwiseUnary.infer("exp", ep.TensorSpec("float32", (size,))).on(device)
    ElementwiseUnary.infer("exp", ep.TensorSpec("float32", (8,), (3,))).on(device)
    assert built == ["elementwise_unary_exp-f32-f32-narrow"]


def test_device_whose_driver_makes_no_context_is_described_all_the_same(monkeypatch):
    def refuse(devices):
        raise cl.RuntimeError(cl._cl._ErrorRecord(msg="no", code=-6, routine="clCreateContext"))

    native = cl.get_platforms()[0].get_devices()[0]
    monkeypatch.setattr(cl, "Context", refuse)
    twin = ClDevice(native)
    assert FUSED not in twin.info.features
    with pytest.raises(ep.DeviceError, match="clCreateContext"):
        twin.allocate(64, ep.MemoryKind.DEVICE)


def test_every_launch_counts_as_native_calls(device, stream, put):
    x = put(np.ones(1000, np.float32))
    out = device.allocate(4000)
    before = device.native_calls
    _ADD.on(device)(stream, a=x, b=x, out=out)
    assert device.native_calls > before
    step = _ADD.on(device).bind(a=x, b=x, out=out)
    before = device.native_calls
    step(stream)
    assert device.native_calls == before + 1
    closing = device.stream()
    closing.fill(out, b"\0")
    before = device.native_calls
    closing.close()
    assert device.native_calls >= before


def test_compile_error_carries_log_source_and_entry(device):
    with pytest.raises(ep.CompileError) as caught:
        build_source(device.twin, "__kernel void broken(__global float *x) { x[0] = nowhere; }", "broken")
    assert "nowhere" in caught.value.log
    assert "__kernel void broken" in caught.value.source
    assert caught.value.entry == "broken"


def test_device_error_names_call_code_and_enqueue(device, stream, put, monkeypatch):
    def refuse(*_):
        raise cl.LogicError(cl._cl._ErrorRecord(msg="no", code=-48, routine="clEnqueueNDRangeKernel"))

    x = put(np.ones(1000, np.float32))
    add = _ADD.on(device)
    monkeypatch.setattr("ep_opencl.function._enqueue", refuse)
    with pytest.raises(ep.DeviceError, match="clEnqueueNDRangeKernel") as caught:
        add(stream, a=x, b=x, out=device.allocate(4000))
    assert caught.value.provider == "opencl"
    assert caught.value.code == "INVALID_KERNEL (-48)"
    assert caught.value.op == "add"


@pytest.mark.parametrize(
    ("code", "requested", "kind"),
    [
        (-5, 64, ep.OutOfMemoryError),
        (-5, 0, ep.DeviceError),
        (-4, 0, ep.OutOfMemoryError),
        (-2, 0, ep.DeviceLostError),
        (-30, 8, ep.DeviceError),
    ],
)
def test_status_codes_become_the_errors_they_mean(code, requested, kind):
    error = failure(cl.RuntimeError(cl._cl._ErrorRecord(msg="no", code=code, routine="create_buffer")), requested)
    assert type(error) is kind
    assert error.call == "clCreateBuffer"
    assert f"({code})" in error.code


def test_buffer_beyond_the_largest_is_out_of_memory_and_the_device_goes_on(device, stream):
    nbytes = device.twin.native.max_mem_alloc_size + 1
    with pytest.raises(ep.OutOfMemoryError) as caught:
        device.allocate(nbytes)
    assert caught.value.requested == nbytes
    assert caught.value.call == "clCreateBuffer"
    memory = device.allocate(64)
    stream.fill(memory, b"\7")
    stream.synchronize()


def test_length_that_the_pool_would_round_past_the_largest_buffer_is_served(device, monkeypatch):
    largest = device.info.alignment * 1001 + 1
    assert super(type(device.twin), device.twin).segment_size(largest) > largest
    monkeypatch.setattr(device.twin, "_most", largest)
    for _ in range(2):
        device.allocate(largest).close()
    with pytest.raises(ep.OutOfMemoryError):
        device.allocate(largest + 1)


def test_more_than_the_device_has_is_out_of_memory_before_it_is_touched(device):
    held = []
    step = min(device.twin.native.max_mem_alloc_size, device.info.memory // 2)
    with pytest.raises(ep.OutOfMemoryError) as caught:
        held.extend(device.allocate(step) for _ in range(64))
    assert 0 <= caught.value.free < step
    assert len(held) >= 1
    del held
    device.synchronize()
    device.allocate(step).close()


@pytest.mark.parametrize("length", [1, 2, 4, 8, 16])
def test_fill_repeats_every_pattern_from_an_offset(device, stream, get, length):
    memory = device.allocate(160)
    stream.fill(memory, b"\0")
    pattern = bytes(range(1, length + 1))
    stream.fill(memory[16:144], pattern)
    assert bytes(get(memory, np.uint8)) == bytes(16) + pattern * (128 // length) + bytes(16)


def test_wait_orders_two_streams(device, put, get):
    producer, consumer = device.stream(), device.stream()
    x, middle, out = put(np.ones(1 << 20, np.float32)), device.allocate(4 << 20), device.allocate(4 << 20)
    device.synchronize()
    spec = ep.TensorSpec("float32", (1 << 20,))
    add = BroadcastBinary.infer("add", spec, spec).on(device)
    for _ in range(20):
        add(producer, a=x, b=x, out=middle)
    add(producer, a=x, b=x, out=middle)
    consumer.wait(producer.record())
    add(consumer, a=middle, b=middle, out=out)
    have = np.empty(1 << 20, np.float32)
    consumer.download(have, out)
    consumer.synchronize()
    assert np.all(have == 4)
    producer.close()
    consumer.close()


def test_synchronous_stream_is_idle_after_each_verb(device):
    stream = device.stream(synchronous=True)
    memory = device.allocate(1 << 22)
    stream.fill(memory, b"\1")
    assert not stream.twin._pending.sweep()
    stream.close()


def test_two_devices_of_one_platform_are_two_devices_of_ep():
    code = """
import ep, numpy as np
from ep_primitives import BroadcastBinary
first, second = ep.device("opencl:0"), ep.device("opencl:1")
spec = ep.TensorSpec("float32", (100,))
add = BroadcastBinary.infer("add", spec, spec)
a = first.stream(); b = second.stream()
x, y, z = first.allocate(400), second.allocate(400), second.allocate(400)
a.upload(x, np.arange(100, dtype=np.float32))
add.on(first)(a, a=x, b=x, out=x)
a.synchronize()
b.copy(y, x)
add.on(second)(b, a=y, b=y, out=z)
out = np.empty(100, np.float32)
b.download(out, z); b.synchronize()
assert np.array_equal(out, 4 * np.arange(100)), out
assert first.twin.context != second.twin.context
print(first.name, second.name)
"""
    assert python(code, POCL_DEVICES="pthread pthread") == "opencl:0 opencl:1"


def test_missing_pyopencl_is_unavailable_with_the_cure():
    code = """
import sys; sys.modules["pyopencl"] = None
import ep
try: ep.device("opencl:0")
except ep.UnavailableError as error: print(error)
"""
    said = python(code)
    assert "pyopencl cannot be imported" in said
    assert "pip install 'execution-provider[opencl]'" in said


def test_no_driver_is_unavailable_with_the_cure(tmp_path):
    code = """
import pyopencl as cl
def none():
    raise cl.LogicError(cl._cl._ErrorRecord(msg="none", code=-1001, routine="clGetPlatformIDs"))
cl.get_platforms = none
import ep
try: ep.device("opencl:0")
except ep.UnavailableError as error: print(error)
"""
    said = python(code)
    assert "OpenCL lists no platform" in said
    assert "pip install" in said


@pytest.mark.parametrize("threads", ["0", "many", "-1", "100000"])
def test_bad_thread_count_is_unavailable_and_no_crash(threads):
    code = "import ep\ntry:\n    ep.device('opencl:0')\nexcept ep.UnavailableError as error:\n    print(error)"
    assert f"EP_CPU_THREADS={threads} " in python(code, EP_CPU_THREADS=threads)


def test_bound_steps_and_graphs_leave_no_texts_of_pyopencl_behind(device, stream, monkeypatch):
    monkeypatch.setattr(cl, "_PYOPENCL_NO_CACHE", True)  # as EP sets it, where it imports pyopencl first
    spec = ep.TensorSpec("float32", (3,))
    add = BroadcastBinary.infer("add", spec, spec).on(device)
    memory = device.allocate(12)

    def make():
        add.bind(a=memory, b=memory, out=memory)
        with stream.capture() as graph:
            add(stream, a=memory, b=memory, out=memory)
        graph.launch(stream)

    make()
    before = len(linecache.cache)
    make()
    assert len(linecache.cache) == before


def test_entry_module_imports_no_vendor_library():
    code = "import sys, ep_opencl; ep_opencl.ep_provider(); print('pyopencl' in sys.modules)"
    assert python(code) == "False"
