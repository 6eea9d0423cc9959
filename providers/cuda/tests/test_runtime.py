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
