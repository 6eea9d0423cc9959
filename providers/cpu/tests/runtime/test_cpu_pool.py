import os
from pathlib import Path

import pytest

BITS = """
import hashlib
import ep, numpy as np
from ep_primitives import BroadcastBinary, ElementwiseUnary
stream = ep.device("cpu:0").stream()
digest = hashlib.sha256()
x = np.random.default_rng(1).standard_normal(300_007).astype(np.float32)
for size in (1, 63, 65_537, 300_007):
    a = np.ascontiguousarray(x[:size])
    out = np.empty_like(a)
    spec = ep.TensorSpec.of(a)
    for op in ("exp", "gelu", "tanh"):
        ElementwiseUnary.infer(op, spec).on(stream.device)(stream, x=a, out=out)
        digest.update(out)
    BroadcastBinary.infer("div", spec, spec).on(stream.device)(stream, a=a, b=out, out=out)
    digest.update(out)
print(digest.hexdigest())
"""

FORK = """
import os
import ep, numpy as np
from ep_primitives import ElementwiseUnary

def work():
    stream = ep.device("cpu:0").stream()
    x = np.full(1_000_000, -2.0, np.float32)
    out = np.zeros_like(x)
    ElementwiseUnary.infer("abs", ep.TensorSpec.of(x)).on(stream.device)(stream, x=x, out=out)
    return bool((out == 2).all())

assert work()
child = os.fork()
if child == 0:
    os._exit(0 if work() and len(os.listdir("/proc/self/task")) == 3 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print(work())
"""

CROWD = """
import os, threading
import ep, numpy as np
from ep_primitives import ElementwiseUnary
device = ep.device("cpu:0")
x = np.full(2_000_000, 0.5, np.float32)
curve = ElementwiseUnary.infer("exp", ep.TensorSpec.of(x)).on(device)
most, wrong = [0], []
before = len(os.listdir("/proc/self/task"))

def drive():
    stream, out = device.stream(), np.empty_like(x)
    for _ in range(20):
        out[:] = 0
        curve(stream, x=x, out=out)
        most[0] = max(most[0], len(os.listdir("/proc/self/task")))
        wrong.append(not (out == out[0]).all() or out[0] == 0)

drivers = [threading.Thread(target=drive) for _ in range(3)]
[driver.start() for driver in drivers]
[driver.join() for driver in drivers]
print(most[0] - before, any(wrong))
"""

linux_only = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted in /proc")


def test_pool_gives_the_same_bits_with_any_number_of_threads(fresh_python):
    assert len({fresh_python(BITS, EP_CPU_THREADS=threads) for threads in "125"}) == 1


@linux_only
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_pool_is_rebuilt_in_a_forked_child(fresh_python):
    assert fresh_python(FORK, EP_CPU_THREADS="3") == "True"


@linux_only
def test_pool_does_not_grow_with_its_callers(fresh_python):
    more, wrong = fresh_python(CROWD, EP_CPU_THREADS="2").split()
    # Three drivers and the pool's one worker.
    assert int(more) == 4
    assert wrong == "False"


@pytest.mark.parametrize("threads", ["0", "many", "-1", "100000"])
def test_pool_refuses_a_bad_thread_count(fresh_python, threads):
    program = "import ep\ntry:\n    ep.device('cpu:0')\nexcept ep.UnavailableError as error:\n    print(error)"
    assert f"EP_CPU_THREADS={threads}" in fresh_python(program, EP_CPU_THREADS=threads)


def test_pool_size_is_the_devices_compute_units(fresh_python):
    assert fresh_python("import ep; print(ep.device('cpu:0').info.compute_units)", EP_CPU_THREADS="7") == "7"
