"""What the suite's runtime cases do not say; `make quick-cuda` runs those on the emulated driver."""

from __future__ import annotations


def test_upload_reads_when_the_stream_gets_there(run, emulated):
    """The driver reads memory that it has not locked at once; a function of the host comes before and writes it."""
    program = """
import ep, numpy as np
stream, array = ep.device("cuda:0").stream(synchronous=False), np.zeros(100, np.uint8)
memory, back = stream.device.allocate(100), np.zeros(100, np.uint8)
stream.call(lambda: array.fill(7))
stream.upload(memory, array)
stream.download(back, memory)
stream.synchronize()
print(set(back.tolist()))
"""
    done = run("-c", program, driver=emulated)
    assert done.stdout == "{7}\n", done.stderr


def test_a_foreign_stream_is_taken_by_any_of_its_names(run, emulated):
    program = """
import ep
device = ep.device("cuda:0")
own = device.stream()
class Torch: cuda_stream = own.twin.dlpack_stream()
class CuPy: ptr = own.twin.dlpack_stream()
class Named:
    def __cuda_stream__(self): return 0, own.twin.dlpack_stream()
for handle in (Torch(), CuPy(), Named(), Torch.cuda_stream, 1):
    stream = device.wrap_stream(handle, owner=own)
    stream.synchronize()
    stream.close()
for wrong in ("stream", 5, -1):
    try:
        device.wrap_stream(wrong, owner=own)
    except (TypeError, ValueError) as error:
        print(error)
"""
    done = run("-c", program, driver=emulated)
    assert done.stdout.splitlines() == [
        "wrap_stream: handle is str, needs a stream of PyTorch, CuPy or PyCUDA, or its number",
        "wrap_stream: at 0x5 there is no stream; give one that was not destroyed",
        "wrap_stream: at -0x1 there is no stream; give one that was not destroyed",
    ], done.stderr


def test_process_that_leaves_foreign_streams_open_ends(run, emulated):
    """They are closed before the streams that own them: a driver follows the handle of a stream that is gone."""
    program = """
import ep
device = ep.device("cuda:0")
owners = [device.stream() for _ in range(20)]
streams = [device.wrap_stream(owner.twin.dlpack_stream(), owner=owner) for owner in owners]
"""
    done = run("-c", program, driver=emulated, EP_EXIT_SECONDS="5")
    assert (done.returncode, done.stderr) == (0, "")


def test_memory_without_bytes_is_an_operand(run, emulated):
    """It has no handle, and a kernel that sums over nothing gets no address: launched, bound, in a graph, and for a slot."""
    program = """
import ep, numpy as np
from ep_primitives import Reduce
device = ep.device("cuda:0")
stream = device.stream()
x, out = device.tensor(np.zeros((4, 0), np.float32)), device.tensor(np.ones((4, 1), np.float32))
sums = Reduce.infer("sum", x, axis=1, keepdims=True).on(device)
step = sums.bind(x=x, out=out)
with stream.capture() as graph:
    sums(stream, x=x, out=out)
graph.slot("x", x.memory)
for launch in (lambda: sums(stream, x=x, out=out), lambda: step(stream), lambda: graph.launch(stream), lambda: graph.launch(stream, x=device.allocate(8))):
    stream.fill(out.memory, b"a")
    launch()
    print(out.numpy(stream).ravel().tolist())
"""
    done = run("-c", program, driver=emulated)
    assert done.stdout.splitlines() == ["[0.0, 0.0, 0.0, 0.0]"] * 4, done.stderr


def test_threads_that_load_modules_at_once_get_their_own(run, emulated):
    """All of them find that the driver takes no cubin; entries of these programs have one name; a list that sleeps lets the others on."""
    program = """
import ep, threading, time, numpy as np
from ep_primitives import Copy
device = ep.device("cuda:0")
class Slow(list):
    def append(self, module):
        super().append(module)
        time.sleep(0.2)
device.twin._loaded = Slow()
together, found = threading.Barrier(4), {}
def copy(dtype):
    stream, array = device.stream(), np.arange(1, 65, dtype=dtype).reshape(8, 8)
    x = device.tensor(array)[:, ::2]
    out = device.empty(x.spec.dtype, x.spec.shape)
    together.wait()
    try:
        Copy.infer(x).on(device)(stream, x=x, out=out)
        found[dtype] = bool((out.numpy(stream) == array[:, ::2]).all())
    except ep.EpError as error:
        found[dtype] = str(error)
threads = [threading.Thread(target=copy, args=(dtype,)) for dtype in ("int8", "int16", "int32", "int64")]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(found.items()))
"""
    done = run("-c", program, driver=emulated)
    assert done.stdout == f"{sorted((dtype, True) for dtype in ('int8', 'int16', 'int32', 'int64'))}\n", done.stderr


def test_long_copies_lock_one_buffer_and_give_it_back(run, emulated):
    program = """
import ep, threading, numpy as np
device = ep.device("cuda:0")
stream, staging, started = device.stream(synchronous=False), device.twin.staging, threading.Event()
type(staging).largest = 1 << 16
taken, take = [], staging.take
staging.take = lambda nbytes: taken.append(nbytes) or take(nbytes)
array = np.random.default_rng(1).integers(0, 256, 1_000_000, np.uint8)
memory, back = device.allocate(array.nbytes), np.zeros_like(array)
stream.call(started.wait)
stream.upload(memory, array)
stream.download(back, memory)
started.set()
stream.synchronize()
print([nbytes for nbytes in taken if nbytes > 4], len(stream.twin._lent), bool((back == array).all()))
"""
    done = run("-c", program, driver=emulated)
    assert done.stdout == "[65536, 65536] 0 True\n", done.stderr


def test_more_groups_than_a_launch_has_are_refused_before_it(run, emulated):
    program = """
import ep
from ep_primitives import Scan
x = ep.TensorSpec("int8", (1 << 31, 4096), (0, 0))
try:
    Scan.infer("max", x, 1).on(ep.device("cuda:0"))
except ep.UnsupportedError as error:
    print("2147483648 groups of" in str(error))
"""
    done = run("-c", program, driver=emulated)
    assert done.stdout == "True\n", done.stderr


def test_library_without_a_module_is_unloaded(run, emulated):
    """A device may lack memory for it; who tries again and again, loads it each time."""
    program = """
import ep
from ep_primitives import ElementwiseUnary
device = ep.device("cuda:0")
context, called = device.twin.context, []
class Spy:
    def __init__(self, functions):
        self.functions = functions
    def __getattr__(self, name):
        if name.startswith("cuLibrary"):
            called.append(name)
        return (lambda *_: 2) if name == "cuLibraryGetModule" else getattr(self.functions, name)
functions, context.functions = context.functions, Spy(context.functions)
negative = ElementwiseUnary.infer("negative", ep.TensorSpec("float32", (8,)))
for _ in range(2):
    try:
        negative.on(device)
    except ep.OutOfMemoryError as error:
        print(error.call, called[-3:], device.twin._loaded)
    called.clear()
context.functions = functions
negative.on(device)
print(len(device.twin._loaded))
"""
    done = run("-c", program, driver=emulated)
    tried = "cuLibraryLoadData ['cuLibraryLoadData', 'cuLibraryGetModule', 'cuLibraryUnload'] []"
    assert done.stdout.splitlines() == [tried, tried, "1"], done.stderr


def test_copy_of_a_thread_that_does_the_work_of_streams_waits_for_nothing(run, emulated):
    program = """
import os, threading
import ep, numpy as np
device = ep.device("cuda:0")
stream = device.stream()
memory = device.allocate(64)
stream.upload(memory, np.full(64, 7, np.uint8))
stream.synchronize()
opened, back = threading.Event(), np.zeros(64, np.uint8)
stream.call(opened.wait)
type(stream.twin).is_idle = lambda self: True  # as it was when the thread asked, before another went on
def work():
    ep.spi.work_here()
    stream.upload(memory, np.full(64, 8, np.uint8), constant=True)
    stream.download(back, memory)
    opened.set()
thread = threading.Thread(target=work, daemon=True)
thread.start()
thread.join(20)
if opened.is_set():
    stream.synchronize()
print(opened.is_set(), set(back.tolist()), flush=True)
os._exit(0)  # though a thread waits for ever
"""
    done = run("-c", program, driver=emulated)
    assert done.stdout == "True {8}\n", done.stdout + done.stderr
