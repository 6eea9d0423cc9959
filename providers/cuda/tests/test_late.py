"""A kernel that faults: the device is lost, every later call says so, and the error names the launch that did it."""

from __future__ import annotations

import pytest

# The second launch reads memory that the driver has freed behind EP's back.
PROGRAM = """
import sys
import ep, numpy as np
from ep_cuda.driver import driver
from ep_primitives import ElementwiseUnary
device, release, errors = ep.device("cuda:0"), [], []
stream, other = device.stream(synchronous=False), device.stream(synchronous=False)
SPEC = ep.TensorSpec("float32", (256,))
def unary(op):
    return ElementwiseUnary.infer(op, SPEC).on(device)
launches = [unary(op) for op in ("abs", "exp", "negative")]
x, out = device.allocate(1024), device.allocate(1024)
stream.fill(x, b"\\0")
for launch in launches:
    launch(stream, x=x, out=out)
stream.synchronize()
other.fill(out, b"\\0")
other.synchronize()
with device.twin.context as current:
    gone = current.answer("cuMemAlloc_v2", "CUdeviceptr", 1024)
wrapped = device.wrap_memory(gone, 1024, owner=device)
with device.twin.context as current:
    current.call("cuMemFree_v2", gone)
stream.call(lambda: [None for _ in iter(lambda: bool(release), True)])
def enqueue():
    for launch, source in zip(launches, (x, wrapped, x)):
        launch(stream, x=source, out=out)
if sys.argv[1] == "graph":
    with stream.capture() as graph:
        enqueue()
    graph.launch(stream)
else:
    enqueue()
release.append(1)
def said(what, work):
    try:
        work()
        print(what, "-")
    except ep.DeviceLostError as error:
        print(what, error.op, error.sequence, error.node)
        errors.append(error)
said("synchronize", stream.synchronize)
said("synchronize", stream.synchronize)
said("launch", lambda: launches[0](other, x=x, out=out))
said("allocate", lambda: device.allocate(1 << 20))
said("stream", device.stream)
print(stream.is_idle)
print(errors[0])
for each in (stream, other):
    try:
        each.close()
    except ep.DeviceLostError:
        pass
"""


WAYS = ["synchronize", "synchronize", "launch", "allocate", "stream"]


@pytest.mark.parametrize(("way", "place"), [("launches", "exp 7 None"), ("graph", "exp 6 1")])
def test_validation_names_the_launch_that_lost_the_device(run, emulated, way, place):
    done = run("-c", PROGRAM, way, driver=emulated, EP_VALIDATE="1")
    assert done.stdout.splitlines()[:-1] == [*[f"{what} {place}" for what in WAYS], "True"], done.stderr
    assert "which has to end" in done.stdout


def test_without_it_the_error_tells_between_which_launches(run, emulated):
    done = run("-c", PROGRAM, "launches", driver=emulated)
    *said, idle, message = done.stdout.splitlines()
    assert [*said, idle] == [
        *[f"{what} None None None" for what in WAYS[:2]],
        "launch abs 2 None",
        *[f"{what} None None None" for what in WAYS[3:]],
        "True",
    ], done.stderr
    assert (
        "at fault was one of enqueues 6 (abs) to 8 (negative) of cuda:0/stream0; run it with EP_VALIDATE=1" in message
    )
