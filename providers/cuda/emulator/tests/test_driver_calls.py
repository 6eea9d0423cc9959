"""What is asynchronous, and what the driver says of itself: streams, events, pools, graphs, peers, several devices."""

from __future__ import annotations

import pytest
from bare_driver import CALLS

SLOW = (
    'kernel("__global__ void entry(int *out) { for (int n = 0; n < 300; ++n) __nanosleep(1); atomicAdd(out, 1); }")\n'
)


def test_device_says_what_it_is(lines):
    text = """
name, bus, number = ctypes.create_string_buffer(64), ctypes.create_string_buffer(32), ctypes.c_int()
uuids = [(ctypes.c_ubyte * 16)() for _ in range(2)]
for device in range(2):
    code("cuDeviceGetName", name, 64, device)
    code("cuDeviceGetPCIBusId", bus, 32, device)
    code("cuDeviceGetUuid_v2", uuids[device], device)
    code("cuDeviceGetAttribute", ctypes.byref(number), 75, device)
    print(name.value.decode(), bus.value.decode(), number.value)
print(bytes(uuids[0]) != bytes(uuids[1]), code("cuDeviceGet", ctypes.byref(number), 2))
place = ctypes.c_char_p()
for which in (700, 12345):
    print(code("cuGetErrorName", which, ctypes.byref(place)), place.value)
"""
    assert lines(text, EP_CUDA_EMULATOR_DEVICES="2", EP_CUDA_EMULATOR_ARCHITECTURE="100") == [
        "Emulated CUDA (no GPU) 0000:00:00.0 10",
        "Emulated CUDA (no GPU) 0000:01:00.0 10",
        "True 101",
        "0 b'CUDA_ERROR_ILLEGAL_ADDRESS'",
        "1 None",
    ]


def test_events_say_what_is_done_and_how_long_it_took(lines):
    text = f"""
slow, place = {SLOW.strip()}, driver.upload(np.zeros(1, np.int32))
stream = driver.answer("cuStreamCreate", 1)
first, last, untimed = (driver.answer("cuEventCreate", flags) for flags in (0, 0, 2))
gate = driver.answer("cuMemHostAlloc", size(4), 0)
ctypes.memset(gate, 0, 4)
code("cuStreamWaitValue32_v2", word(stream), word(gate), 1, 0)
code("cuEventRecord", word(first), word(stream))
for _ in range(20):
    driver.launch(slow, 1, 256, place, stream=stream)
code("cuEventRecord", word(last), word(stream))
print(code("cuEventQuery", word(last)), code("cuStreamQuery", word(stream)))
ctypes.c_uint32.from_address(gate).value = 1
other = driver.answer("cuStreamCreate", 1)
print(code("cuStreamWaitEvent", word(other), word(last), 0), code("cuStreamSynchronize", word(other)))
print(code("cuEventQuery", word(last)), ints(place, 1))
milliseconds = ctypes.c_float()
print(code("cuEventElapsedTime", ctypes.byref(milliseconds), word(first), word(last)), milliseconds.value > 0)
print(code("cuEventElapsedTime", ctypes.byref(milliseconds), word(first), word(untimed)))
"""
    assert lines(text) == ["600 600", "0 0", "0 [5120]", "0 True", "400"]


def test_values_host_functions_and_pools_are_in_the_streams_order(lines):
    text = """
stream = driver.answer("cuStreamCreate", 1)
gate = driver.answer("cuMemHostAlloc", size(64), 0)
ctypes.memset(gate, 0, 64)
seen = []
keep = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: seen.append(data))
place = ctypes.c_uint64()
print(code("cuStreamWaitValue32_v2", word(stream), word(gate), 5, 0))
print(code("cuLaunchHostFunc", word(stream), keep, ctypes.c_void_p(7)))
print(code("cuMemAllocAsync", ctypes.byref(place), size(256), word(stream)))
print(code("cuMemsetD32Async", place, 9, size(64), word(stream)), code("cuStreamWriteValue32_v2", word(stream), word(gate + 8), 6, 0))
print(seen, code("cuStreamQuery", word(stream)))
ctypes.c_uint32.from_address(gate).value = 5
print(code("cuStreamSynchronize", word(stream)), seen, ints(place.value, 2), ctypes.c_uint32.from_address(gate + 8).value)
print(code("cuMemFreeAsync", place, word(stream)), code("cuStreamSynchronize", word(stream)), code("cuMemFree_v2", place))
pool, own, threshold = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64(77)
print(code("cuDeviceGetDefaultMemPool", ctypes.byref(pool), 0), code("cuMemPoolTrimTo", pool, size(0)), code("cuMemPoolDestroy", pool))
print(code("cuMemPoolCreate", ctypes.byref(own), (ctypes.c_int * 22)(1, 0, 1, 0)), code("cuMemPoolSetAttribute", own, 4, ctypes.byref(threshold)))
threshold.value = 0
print(code("cuMemPoolGetAttribute", own, 4, ctypes.byref(threshold)), threshold.value, code("cuMemPoolGetAttribute", own, 9, ctypes.byref(threshold)))
print(code("cuMemAllocFromPoolAsync", ctypes.byref(place), size(64), own, word(stream)), code("cuMemPoolDestroy", own))
"""
    assert lines(text) == ["0", "0", "0", "0 0", "[] 600", "0 [7] [9, 9] 6", "0 0 1", "0 0 1", "0 0", "0 77 1", "0 0"]


def test_pools_keep_what_is_freed_until_somebody_waits(lines):
    text = """
stream = driver.answer("cuStreamCreate", 1)
pool, place, number = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_uint64(3 << 20)
driver.call("cuDeviceGetMemPool", ctypes.byref(pool), 0)
def state():
    free, total, facts = ctypes.c_size_t(), ctypes.c_size_t(), []
    driver.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
    for attribute in (5, 6, 7, 8):
        driver.call("cuMemPoolGetAttribute", pool, attribute, ctypes.byref(number))
        facts.append(number.value >> 20)
    return facts, total.value - free.value >> 20
def turn(mebibytes):
    driver.call("cuMemAllocAsync", ctypes.byref(place), size(mebibytes << 20), word(stream))
    print(*state())
    driver.call("cuMemFreeAsync", place, word(stream))
    while code("cuStreamQuery", word(stream)): pass
    print(*state())
turn(8)
driver.call("cuStreamSynchronize", word(stream))
print(*state())
number.value = 3 << 20
driver.call("cuMemPoolSetAttribute", pool, 4, ctypes.byref(number))
turn(5)
driver.synchronize()
print(*state())
turn(2)
driver.call("cuMemPoolTrimTo", pool, size(1 << 20))
print(*state())
own = ctypes.c_void_p()
driver.call("cuMemPoolCreate", ctypes.byref(own), (ctypes.c_int * 22)(1, 0, 1, 0))
print(code("cuDeviceSetMemPool", 0, own), code("cuDeviceSetMemPool", 0, ctypes.c_void_p(8)))
driver.call("cuMemAllocAsync", ctypes.byref(place), size(4 << 20), word(stream))
print(*state(), code("cuMemPoolDestroy", own), code("cuMemPoolDestroy", own), code("cuMemFree_v2", place), *state())
"""
    assert lines(text) == [
        *("[8, 8, 8, 8] 8", "[8, 8, 0, 8] 8", "[0, 8, 0, 8] 0"),
        *("[5, 8, 5, 8] 5", "[5, 8, 0, 8] 5", "[3, 8, 0, 8] 3"),
        *("[3, 8, 2, 8] 3", "[3, 8, 0, 8] 3", "[1, 8, 0, 8] 1"),
        *("0 1", "[1, 8, 0, 8] 5 0 1 0 [1, 8, 0, 8] 1"),
    ]


def test_managed_registered_and_pinned_memory_is_the_hosts_too(lines):
    text = """
work = kernel("__global__ void entry(int *out) { out[threadIdx.x] += threadIdx.x; }")
managed, pinned = (driver.answer(name, size(64), 1) for name in ("cuMemAllocManaged", "cuMemHostAlloc"))
array = np.zeros(16, np.int32)
print(code("cuMemHostRegister_v2", ctypes.c_void_p(array.ctypes.data), size(64), 0))
for place in (managed, pinned, array.ctypes.data):
    ctypes.memset(place, 0, 64)
    driver.launch(work, 1, 16, place)
    driver.synchronize()
    print((ctypes.c_int * 16).from_address(place)[15])
print(code("cuMemHostUnregister", ctypes.c_void_p(array.ctypes.data)))
kind = ctypes.c_uint()
for place in (managed, pinned, driver.allocate(64)):
    print(code("cuPointerGetAttribute", ctypes.byref(kind), 2, word(place)), kind.value)
"""
    assert lines(text) == ["0", "15", "15", "15", "0", "0 2", "0 1", "0 2"]


def test_captured_work_is_launched_as_a_graph(lines):
    text = """
work = kernel("__global__ void entry(int *out, int more) { out[0] = out[0] * 2 + more; }")
one, two = (driver.answer("cuStreamCreate", 1) for _ in range(2))
event, place = driver.answer("cuEventCreate", 2), driver.upload(np.zeros(1, np.int32))
def record(more):
    code("cuStreamBeginCapture_v2", word(one), 0)
    driver.launch(work, 1, 1, place, ctypes.c_int(more), stream=one)
    code("cuEventRecord", word(event), word(one))
    code("cuStreamWaitEvent", word(two), word(event), 0)
    driver.launch(work, 1, 1, place, ctypes.c_int(1), stream=two)
    code("cuEventRecord", word(event), word(two))
    code("cuStreamWaitEvent", word(one), word(event), 0)
    driver.launch(work, 1, 1, place, ctypes.c_int(0), stream=one)
    graph = ctypes.c_uint64()
    print(code("cuStreamEndCapture", word(one), ctypes.byref(graph)), ints(place, 1))
    return graph
graph, made, count = record(3), ctypes.c_uint64(), ctypes.c_size_t()
code("cuGraphGetNodes", graph, None, ctypes.byref(count))
print(count.value, code("cuGraphInstantiateWithFlags", ctypes.byref(made), graph, word(0)))
for _ in range(2):
    code("cuGraphLaunch", made, word(one))
code("cuStreamSynchronize", word(one))
print(ints(place, 1))
print(code("cuGraphExecUpdate_v2", made, record(5), None), code("cuGraphLaunch", made, word(one)), code("cuStreamSynchronize", word(one)), ints(place, 1))
code("cuStreamBeginCapture_v2", word(one), 0)
print(code("cuStreamSynchronize", word(one)), code("cuStreamEndCapture", word(one), ctypes.byref(graph)))
"""
    first = (0 * 2 + 3) * 2 + 1
    twice = ((first * 2) * 2 + 3) * 2 + 1
    again = ((twice * 2) * 2 + 5) * 2 + 1
    assert lines(text) == ["0 [0]", "3 0", f"[{twice * 2}]", f"0 [{twice * 2}]", f"0 0 0 [{again * 2}]", "900 901"]


def test_captures_end_with_what_they_forbid(lines):
    """A launch of a graph in any mode; graphs that are made by threads whose mode, and the capture's, does not let them."""
    text = """
import threading
stream, graph, made, mode = driver.answer("cuStreamCreate", 1), driver.answer("cuGraphCreate", 0), word(), ctypes.c_int(2)
context = word()
driver.call("cuCtxGetCurrent", ctypes.byref(context))
make = lambda: code("cuGraphInstantiateWithFlags", ctypes.byref(made), word(graph), word(0))
def at_ease():
    code("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))
    return [make(), code("cuGraphExecDestroy", made), code("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode)), mode.value]
def elsewhere():
    found = []
    def work():
        code("cuCtxPushCurrent_v2", context)
        found.append(make())
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found[0]
def amid(mode, work):
    code("cuStreamBeginCapture_v2", word(stream), mode)
    answer = work()
    print(answer, code("cuStreamEndCapture", word(stream), ctypes.byref(word())))
for work in (make, elsewhere, at_ease):
    for mode_of_capture in (0, 1, 2):
        amid(mode_of_capture, work)
make()
amid(2, lambda: code("cuGraphLaunch", made, word(stream)))
print(code("cuThreadExchangeStreamCaptureMode", ctypes.byref(ctypes.c_int(3))))
"""
    at_ease = ["[0, 0, 0, 2] 0"] * 3
    assert lines(text) == ["900 901", "900 901", "0 0", "900 901", "0 0", "0 0", *at_ease, "900 901", "1"]


def test_graphs_are_built_by_hand(lines):
    text = """
class Kernel(ctypes.Structure):
    _fields_ = [("function", word), *((name, ctypes.c_uint) for name in ("gx", "gy", "gz", "bx", "by", "bz", "shared")),
                ("parameters", ctypes.c_void_p), ("extra", ctypes.c_void_p), ("kernel", word), ("context", word)]
class Fill(ctypes.Structure):
    _fields_ = [("place", word), ("pitch", size), ("value", ctypes.c_uint), ("element", ctypes.c_uint), ("width", size), ("height", size)]
class Copy(ctypes.Structure):
    _fields_ = [(f"{side}{name}", kind) for side in "sd" for name, kind in (("x", size), ("y", size), ("z", size), ("lod", size),
                ("type", ctypes.c_int), ("host", word), ("device", word), ("array", word), ("reserved", word), ("pitch", size), ("height", size))]
    _fields_ += [("width", size), ("rows", size), ("planes", size)]
work = kernel("__global__ void entry(int *out, int more) { out[threadIdx.x] += more; }")
place, copy = (driver.upload(np.zeros(8, np.int32)) for _ in range(2))
kept = []
def parameters(more):
    values = [word(place), ctypes.c_int(more)]
    places = (ctypes.c_void_p * 2)(*(ctypes.cast(ctypes.byref(value), ctypes.c_void_p) for value in values))
    kept.append((values, places))
    return Kernel(work, 1, 1, 1, 8, 1, 1, 0, ctypes.addressof(places))
graph, child, made, nodes = word(), word(), word(), [word() for _ in range(5)]
code("cuGraphCreate", ctypes.byref(graph), 0)
code("cuGraphCreate", ctypes.byref(child), 0)
def after(*found):
    return (word * len(found))(*(each.value for each in found)), size(len(found))
print(code("cuGraphAddKernelNode_v2", ctypes.byref(nodes[1]), graph, None, size(0), ctypes.byref(parameters(3))))
print(code("cuGraphAddMemsetNode", ctypes.byref(nodes[0]), graph, None, size(0), ctypes.byref(Fill(place, 32, 10, 4, 8, 1)), None))
print(code("cuGraphAddDependencies", graph, *after(nodes[0])[:1], *after(nodes[1])))
print(code("cuGraphAddMemcpyNode", ctypes.byref(nodes[2]), graph, *after(nodes[1]), ctypes.byref(Copy(stype=2, sdevice=place, dtype=2, ddevice=copy, width=32, rows=1, planes=1)), None))
print(code("cuGraphAddMemsetNode", ctypes.byref(nodes[3]), child, None, size(0), ctypes.byref(Fill(place, 0, 7, 4, 1, 1)), None))
print(code("cuGraphAddChildGraphNode", ctypes.byref(nodes[4]), graph, *after(nodes[2]), child))
print(code("cuGraphInstantiateWithFlags", ctypes.byref(made), graph, word(0)))
for _ in range(2):
    code("cuGraphLaunch", made, None)
    driver.synchronize()
    print(ints(place, 2), ints(copy, 2))
    print(code("cuGraphExecKernelNodeSetParams_v2", made, nodes[1], ctypes.byref(parameters(5))))
code("cuGraphAddDependencies", graph, *after(nodes[4])[:1], *after(nodes[0]))
print(code("cuGraphInstantiateWithFlags", ctypes.byref(made), graph, word(0)))
"""
    assert lines(text) == [*"0000000", "[7, 13] [13, 13]", "0", "[7, 15] [15, 15]", "0", "1"]


def test_devices_reach_each_other(lines):
    text = """
other = driver.answer("cuDevicePrimaryCtxRetain", 1)
can = ctypes.c_int()
print(code("cuDeviceCanAccessPeer", ctypes.byref(can), 0, 1), can.value)
driver.call("cuCtxPushCurrent_v2", word(other))
there = driver.upload(np.arange(4, dtype=np.int32))
driver.call("cuCtxPopCurrent_v2", None)
here = driver.allocate(16)
print(code("cuMemcpyPeer", word(here), None, word(there), word(other), size(16)), ints(here, 4))
print(code("cuCtxEnablePeerAccess", word(other), 0), code("cuCtxEnablePeerAccess", word(other), 0))
"""
    assert lines(text, EP_CUDA_EMULATOR_DEVICES="2") == ["0 1", "0 [0, 1, 2, 3]", "0 704"]


def test_kernels_reach_a_peer_while_access_is_enabled(emulate):
    text = """
work = kernel("__global__ void entry(int *out) { out[threadIdx.x] = 7; }")
other = driver.answer("cuDevicePrimaryCtxRetain", 1)
driver.call("cuCtxPushCurrent_v2", word(other))
there, locked = driver.upload(np.zeros(4, np.int32)), driver.answer("cuMemHostAlloc", size(16), 0)
driver.call("cuCtxPopCurrent_v2", None)
driver.launch(work, 1, 4, locked)  # which is everybody's
driver.call("cuCtxEnablePeerAccess", word(other), 0)
driver.launch(work, 1, 4, there)
print(code("cuCtxSynchronize"), ints(there, 4), code("cuCtxDisablePeerAccess", word(other)))
driver.launch(work, 1, 4, there)
print(code("cuCtxSynchronize"))
"""
    done = emulate(CALLS + text, EP_CUDA_EMULATOR_DEVICES="2")
    assert done.stdout.splitlines() == ["0 [7, 7, 7, 7] 0", "700"]
    report = "kernel entry is given memory of device 1, to which device 0 has no peer access"
    assert done.stderr == f"emulated CUDA: {report}\n"


def test_graph_that_is_destroyed_lets_launches_end(lines):
    text = """
place, gate, graph, made = driver.upload(np.zeros(1, np.int32)), driver.answer("cuMemHostAlloc", size(4), 0), word(), word()
stream = driver.answer("cuStreamCreate", 1)
ctypes.memset(gate, 0, 4)
code("cuStreamBeginCapture_v2", word(stream), 2)
code("cuMemsetD32Async", word(place), 7, size(1), word(stream))
code("cuStreamEndCapture", word(stream), ctypes.byref(graph))
code("cuGraphInstantiateWithFlags", ctypes.byref(made), graph, word(0))
code("cuStreamWaitValue32_v2", word(stream), word(gate), 1, 0)
print(code("cuGraphLaunch", made, word(stream)), code("cuGraphExecDestroy", made), code("cuStreamQuery", word(stream)))
ctypes.c_uint32.from_address(gate).value = 1
print(code("cuStreamSynchronize", word(stream)), ints(place, 1))
"""
    assert lines(text) == ["0 0 600", "0 [7]"]


def test_memory_ends_where_it_was_said_to(lines):
    text = """
place, free, total = ctypes.c_uint64(), ctypes.c_size_t(), ctypes.c_size_t()
print(code("cuMemAlloc_v2", ctypes.byref(place), size(1 << 20)), code("cuMemAlloc_v2", ctypes.byref(place), size(2 << 20)))
print(code("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total)), total.value - free.value)
"""
    assert lines(text, EP_CUDA_EMULATOR_MEMORY=str(2 << 20)) == ["0 2", f"0 {1 << 20}"]


def test_forked_child_is_refused(lines):
    text = """
import os, sys
child = os.fork()
if not child:
    os._exit(code("cuCtxSynchronize") * 10 + code("cuInit", 0))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert lines(text) == ["33"]


def test_what_is_not_emulated_says_so_once(emulate):
    done = emulate(CALLS + 'print(code("cuTexObjectCreate"), code("cuTexObjectCreate"))')
    assert done.stdout.split() == ["801", "801"]
    assert done.stderr == "emulated CUDA: cuTexObjectCreate is not emulated\n"


@pytest.mark.parametrize(
    ("program", "code", "why"),
    [
        ("this is no program", 200, ""),
        (".version 9.0\n.target sm_90\n.visible .entry e() { add.s32 %r1, 1; ret; }", None, "line 3"),
        (".version 9.0\n.target sm_90\n.visible .entry e() { wgmma.fence.sync.aligned; ret; }", None, "wgmma.fence.sync.aligned is not emulated"),
        (".version 9.0\n.target sm_90\n.visible .entry e( { ret; }", 218, "line"),
    ],
)  # fmt: skip
def test_program_that_is_wrong_is_refused_with_its_line(emulate, program, code, why):
    done = emulate(
        CALLS
        + f"""
try:
    driver.launch(driver.function(driver.load({program!r}), "e"), 1, 1)
except DriverError as error:
    print(error.code)
"""
    )
    assert int(done.stdout) in ({code} if code else {218, 801})
    assert why in done.stderr


def test_better_code_takes_the_place_of_code_that_runs(lines, tmp_path):
    """After a million threads an entry is compiled once more, while launches of it are under way."""
    text = """
work, place = kernel("__global__ void entry(int *out) { atomicAdd(out, 1); }"), driver.upload(np.zeros(1, np.int32))
for _ in range(3000):
    driver.launch(work, 4, 128, place)
driver.synchronize()
print(ints(place, 1))
"""
    assert lines(text, EP_CACHE_DIR=str(tmp_path)) == [str([3000 * 4 * 128])]


def test_hundred_thousand_launches_leave_nothing_behind(lines):
    text = """
import resource
work, place = kernel("__global__ void entry(int *out) { out[0] += 1; }"), driver.upload(np.zeros(1, np.int32))
def launch(count):
    for _ in range(count):
        driver.launch(work, 1, 1, place)
    driver.synchronize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = launch(5000)
for _ in range(19):
    after = launch(5000)
print(after - before < 16 << 10, ints(place, 1))
"""
    assert lines(text) == ["True [100000]"]
