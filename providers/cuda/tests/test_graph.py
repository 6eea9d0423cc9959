"""EP's graphs as graphs of the driver's: one call a launch, arguments that follow slots, and what is replayed in their place."""

from __future__ import annotations

HEAD = """
import ep, numpy as np
from ep_cuda import graph as lowering
from ep_primitives import BroadcastBinary, RandomFill
device = ep.device("cuda:0")
stream = device.stream()
SPEC = ep.TensorSpec("float32", (256,))
add = BroadcastBinary("add", a=SPEC, b=SPEC, out=SPEC).on(device)
def memory(value):
    made = device.allocate(1024)
    stream.upload(made, np.full(256, value, np.float32))
    stream.synchronize()
    return made
def value(memory):
    array = np.empty(256, np.float32)
    stream.download(array, memory)
    stream.synchronize()
    assert (array == array[0]).all()
    return int(array[0])
def captured(count):
    a, b = memory(1), memory(2)
    with stream.capture() as graph:
        for _ in range(count):
            add(stream, a=a, b=b, out=a)
    graph.slot("a", a)
    graph.slot("b", b)
    return graph, a, b
def calls(work):
    before = device.native_calls
    work()
    return device.native_calls - before
filled = []
fill = lowering.KernelNode.fill
def spy(node):
    filled.append(node)
    fill(node)
"""


def test_launch_is_one_call_and_sets_what_differs(run, emulated):
    text = """
graph, a, b = captured(20)
graph.launch(stream)
lowering.KernelNode.fill = spy
print(calls(lambda: graph.launch(stream)), len(filled), value(a))
other = memory(0)
for given in ({"b": other}, {"b": other}, {"a": memory(5), "b": other}, {}):
    graph.launch(stream, **given)
    print(len(filled), value(a), value(given.get("a", a)))
print(device.degraded["graph"])
"""
    done = run("-c", HEAD + text, driver=emulated)
    assert done.stdout.splitlines() == ["1 0 81", "20 81 81", "20 81 81", "40 81 5", "60 121 121", "0"], done.stderr


def test_all_kinds_of_nodes_run_as_they_were_captured(run, emulated):
    text = """
state, out, copy = device.allocate(16), device.allocate(1024), device.allocate(1024)
stream.upload(state, np.array([7, 0], np.uint64))
random = RandomFill("uniform", state=ep.TensorSpec("uint64", (2,)), out=SPEC).on(device)
with stream.capture() as graph:
    random(stream, state=state, out=out)
    stream.copy(copy[16:], out[16:])
    stream.fill(copy[:16], bytes(range(16)))
graph.slot("out", out)
graph.slot("copy", copy)
def shown(memory):
    array = np.empty(1024, np.uint8)
    stream.download(array, memory)
    stream.synchronize()
    return array
drawn = []
for given in ({}, {"out": device.allocate(1024)}, {"copy": device.allocate(1040)[16:]}):
    graph.launch(stream, **given)
    source, target = shown(given.get("out", out)), shown(given.get("copy", copy))
    drawn.append(source.tobytes())
    print((target[16:] == source[16:]).all(), target[:16].tolist() == list(range(16)))
print(type(graph._executable).__name__, len(set(drawn)), device.degraded["graph"])
"""
    done = run("-c", HEAD + text, driver=emulated)
    assert done.stdout.splitlines() == [*["True True"] * 3, "CudaGraph 3 0"], done.stderr


def test_node_that_the_driver_refuses_is_replayed(run, emulated):
    text = """
def refuse(*_):
    raise ep.DeviceError("refused", provider="cuda", call="cuGraphAddKernelNode", code=801)
lowering.CudaGraph._added = refuse
graph, a, b = captured(3)
graph.launch(stream)
print(value(a), type(graph._executable).__name__, device.degraded["graph"])
"""
    done = run("-c", HEAD + text, driver=emulated)
    assert done.stdout == "7 Replay 1\n", done.stderr


def test_handler_launches_in_the_middle_of_a_launch(run, emulated):
    """Both runs are whole, whichever comes first; and after Ctrl-C the next launch sets all arguments anew."""
    text = """
graph, a, b = captured(2)
graph.launch(stream)
ten, hundred = memory(10), memory(100)
def handle(node):
    lowering.KernelNode.fill = fill
    graph.launch(stream, b=hundred)
    fill(node)
lowering.KernelNode.fill = handle
graph.launch(stream, b=ten)
print(value(a))
def interrupt(node):
    raise KeyboardInterrupt
lowering.KernelNode.fill = interrupt
try:
    graph.launch(stream, b=hundred)
except KeyboardInterrupt:
    lowering.KernelNode.fill = fill
print(value(a))
graph.launch(stream, b=ten)
print(value(a))
"""
    done = run("-c", HEAD + text, driver=emulated)
    assert done.stdout.split() == ["225", "225", "245"], done.stderr


CAPTURED = """
from ep_cuda.driver import ffi
class Twice(ep.Descriptor):
    family = "twice"
    roles = ep.Roles(ep.Role.input("x", shares=("out",)), ep.Role.output("out"))
    __slots__ = ()
    def __init__(self):
        self._freeze("-", (SPEC, SPEC))
    def lower(self):
        stage = BroadcastBinary("add", a=SPEC, b=SPEC, out=SPEC)
        return ep.Stage(stage, a="x", b="x", out="sum"), ep.Stage(stage, a="sum", b="sum", out="out")
with device.twin.context as driver:
    native = driver.answer("cuStreamCreateWithPriority", "CUstream", 1, 0)
theirs = device.wrap_stream(int(ffi.cast("uintptr_t", native)), owner=device)
x, out = memory(1), memory(0)
def recorded(work):
    # As PyTorch does it: in the mode in which no thread may call what may be unsafe.
    made, run = ffi.new("CUgraph *"), ffi.new("CUgraphExec *")
    with device.twin.context as driver:
        driver.call("cuStreamBeginCapture_v2", native, 0)
        work()
        driver.call("cuStreamEndCapture", native, made)
        print(value(out))
        driver.call("cuGraphInstantiateWithFlags", run, made[0], 0)
        driver.call("cuGraphLaunch", run[0], native)
    theirs.synchronize()
    print(value(out))
"""


def test_step_of_a_lowering_is_captured_by_others(run, emulated):
    """Whether it makes its graph inside their capture or has one already, and whether one is destroyed there."""
    text = """
step, other = (Twice().on(device).bind(x=x, out=out) for _ in range(2))
for _ in range(2):
    other(theirs)
stream.fill(out, b"\\0")
stream.synchronize()
step(theirs)
theirs.synchronize()
stream.fill(out, b"\\0")
stream.synchronize()
recorded(lambda: (step(theirs), other.close()))
stream.fill(out, b"\\0")
recorded(lambda: step(theirs))
step(theirs)
theirs.synchronize()
print(type(step._run._executable).__name__, value(out))
"""
    done = run("-c", HEAD + CAPTURED + text, driver=emulated)
    assert done.stdout.splitlines() == ["0", "4", "0", "4", "CudaGraph 4"], done.stderr


def test_graph_is_captured_by_others(run, emulated):
    text = """
graph, a, b = captured(3)
graph.launch(theirs, a=out)
theirs.synchronize()
recorded(lambda: graph.launch(theirs, a=out, b=x))
"""
    done = run("-c", HEAD + CAPTURED + text, driver=emulated)
    assert done.stdout.splitlines() == ["6", "9"], done.stderr
