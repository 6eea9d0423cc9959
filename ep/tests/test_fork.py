"""After fork() every object of before refuses in the child: each public door, found by looking, so that none is forgotten."""

from __future__ import annotations

import os
import pickle
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from ep_primitives import ElementwiseUnary

import ep

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

SPEC = ep.TensorSpec("float32", (16,))
HOST = np.zeros(16, np.float32)

REFUSED = {
    "Device.allocate": lambda old: old.device.allocate(8),
    "Device.close": lambda old: old.device.close(),
    "Device.empty": lambda old: old.device.empty(SPEC),
    "Device.memory_info": lambda old: old.device.memory_info(),
    "Device.stream": lambda old: old.device.stream(),
    "Device.synchronize": lambda old: old.device.synchronize(),
    "Device.tensor": lambda old: old.device.tensor(HOST),
    "Device.trim": lambda old: old.device.trim(),
    "Device.wrap_host": lambda old: old.device.wrap_host(HOST.ctypes.data, HOST.nbytes, HOST),
    "Device.wrap_memory": lambda old: old.device.wrap_memory(HOST.ctypes.data, HOST.nbytes, owner=HOST),
    "Device.wrap_stream": lambda old: old.device.wrap_stream(object(), owner=HOST),
    "Stream.allocate": lambda old: old.stream.allocate(8),
    "Stream.call": lambda old: old.stream.call(list),
    "Stream.capture": lambda old: old.stream.capture(),
    "Stream.close": lambda old: old.stream.close(),
    "Stream.copy": lambda old: old.stream.copy(old.x, old.out),
    "Stream.download": lambda old: old.stream.download(HOST, old.x),
    "Stream.export": lambda old: old.stream.export(old.x, SPEC),
    "Stream.fill": lambda old: old.stream.fill(old.x, b"\0"),
    "Stream.free": lambda old: old.stream.free(old.x),
    "Stream.is_idle": lambda old: old.stream.is_idle,
    "Stream.record": lambda old: old.stream.record(),
    "Stream.synchronize": lambda old: old.stream.synchronize(),
    "Stream.upload": lambda old: old.stream.upload(old.x, HOST),
    "Stream.wait": lambda old: old.stream.wait(old.event),
    "Event.is_done": lambda old: old.event.is_done,
    "Event.seconds_since": lambda old: old.event.seconds_since(old.event),
    "Event.synchronize": lambda old: old.event.synchronize(),
    "Memory.__getitem__": lambda old: old.x[4:8],
    "Memory.derive": lambda old: old.x.derive("key", bytes),
    "Memory.freeze": lambda old: old.x.freeze(),
    "Memory.host": lambda old: old.x.host(),
    "Primitive.__call__": lambda old: old.primitive(old.stream, x=old.x, out=old.out),
    "Primitive.bind": lambda old: old.primitive.bind(x=old.x, out=old.out),
    "Step.__call__": lambda old: old.step(old.stream),
    "Graph.launch": lambda old: old.graph.launch(old.stream),
    "Graph.slot": lambda old: old.graph.slot("x", old.x),
    "Exported.__dlpack__": lambda old: old.exported.__dlpack__(),
    "Tensor.__dlpack__": lambda old: old.tensor.__dlpack__(),
    "Tensor.numpy": lambda old: old.tensor.numpy(),
    "descriptor.on": lambda old: ElementwiseUnary.infer("abs", SPEC).on(old.device),
    "ep.view": lambda old: ep.view(HOST, old.stream),
}

MIXED = {
    "stream.fill": lambda old, new: new.stream.fill(old.x, b"\0"),
    "stream.copy from": lambda old, new: new.stream.copy(new.x, old.x),
    "stream.copy to": lambda old, new: new.stream.copy(old.x, new.x),
    "stream.upload": lambda old, new: new.stream.upload(old.x, HOST),
    "stream.download": lambda old, new: new.stream.download(HOST, old.x),
    "stream.wait": lambda old, new: new.stream.wait(old.event),
    "stream.free": lambda old, new: new.stream.free(old.x),
    "stream.export": lambda old, new: new.stream.export(old.x, SPEC),
    "primitive on a stream": lambda old, new: old.primitive(new.stream, x=old.x, out=old.out),
    "memory in a primitive": lambda old, new: new.primitive(new.stream, x=old.x, out=new.out),
    "tensor in a primitive": lambda old, new: new.primitive(new.stream, x=old.tensor, out=new.out),
    "memory in bind": lambda old, new: new.primitive.bind(x=new.x, out=old.out),
    "step on a stream": lambda old, new: old.step(new.stream),
    "graph on a stream": lambda old, new: old.graph.launch(new.stream),
}

# Facts that were true before the fork, and doors that let go of something and touch nothing else.
HARMLESS = {
    "Device.budget",
    "Device.can_access",
    "Device.can_copy_from",
    "Device.can_copy_to",
    "Device.compiles",
    "Device.native_calls",
    "Device.reaches_host",
    "Event.wait",
    "Exported.__dlpack_device__",
    "Exported.device",
    "Exported.event",
    "Exported.spec",
    "Graph.close",
    "Graph.nodes",
    "Graph.slots",
    "Memory.__len__",
    "Memory.close",
    "Memory.device",
    "Memory.handle",
    "Memory.is_closed",
    "Memory.is_frozen",
    "Memory.kind",
    "Memory.nbytes",
    "Memory.offset",
    "Primitive.asked",
    "Primitive.descriptor",
    "Primitive.device",
    "Primitive.implementation",
    "Primitive.is_lowered",
    "Primitive.scratch_nbytes",
    "Primitive.kernel",
    "Primitive.stages",
    "Step.close",
    "Step.memories",
    "Step.primitive",
    "Step.scalars",
    "Tensor.__dlpack_device__",
    "Tensor.__getitem__",
    "Tensor.__len__",
    "Tensor.close",
    "Tensor.device",
    "Tensor.dtype",
    "Tensor.mT",
    "Tensor.memory",
    "Tensor.permute",
    "Tensor.reshape",
    "Tensor.shape",
    "Tensor.spec",
}

KINDS = (ep.Device, ep.Stream, ep.Event, ep.Memory, ep.Primitive, ep.Step, ep.Graph, ep.Exported, ep.Tensor)
SPECIAL = {"__call__", "__getitem__", "__len__", "__dlpack__", "__dlpack_device__"}


def make(*, synchronous):
    """Return one object of each kind, on the CPU."""
    device = ep.device("cpu:0")
    stream = device.stream(synchronous=synchronous)
    x, out = device.allocate(64), device.allocate(64)
    primitive = ElementwiseUnary.infer("negative", SPEC).on(device)
    stream.fill(x, b"\0")
    with stream.capture() as graph:
        primitive(stream, x=x, out=out)
    event = stream.record(timed=True)
    stream.synchronize()
    exported = stream.export(x, SPEC)
    return SimpleNamespace(
        device=device,
        stream=stream,
        x=x,
        out=out,
        primitive=primitive,
        step=primitive.bind(x=x, out=out),
        graph=graph,
        event=event,
        exported=exported,
        tensor=ep.Tensor(x, SPEC),
    )


@pytest.fixture(params=[True, False], ids=["synchronous", "asynchronous"])
def old(request):
    made = make(synchronous=request.param)
    yield made
    made.exported = None
    made.graph.close()
    made.step.close()
    made.stream.close()
    made.x.close()
    made.out.close()


def in_child(work):
    """Return what a function returns in a forked child, or what it raised there."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            answer = work()
        except BaseException as error:  # noqa: BLE001 - the parent looks at it
            answer = error
        os.write(writer, pickle.dumps((type(answer), str(answer)) if isinstance(answer, BaseException) else answer))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    return pickle.loads(text)


def outcomes(uses, *arguments):
    found = {}
    for name, use in uses.items():
        try:
            use(*arguments)
        except ep.ClosedError as error:
            found[name] = "refused" if "fork" in str(error) else f"does not name the fork: {error}"
        except BaseException as error:  # noqa: BLE001 - reported by name
            found[name] = f"{type(error).__name__}: {error}"
        else:
            found[name] = "nothing was raised"
    return found


def test_every_public_door_is_in_one_of_the_lists():
    doors = {
        f"{kind.__name__}.{name}" for kind in KINDS for name in dir(kind) if name in SPECIAL or not name.startswith("_")
    }
    listed = {name for name in REFUSED if name[0].isupper()} | HARMLESS
    assert doors - listed == set(), (
        "a new door: let it check the fork and add it to REFUSED, or say in HARMLESS why not"
    )


def test_every_door_of_an_object_of_before_refuses_in_the_child(old):
    assert in_child(lambda: outcomes(REFUSED, old)) == dict.fromkeys(REFUSED, "refused")
    old.stream.fill(old.x, b"\1")
    old.step(old.stream)
    old.stream.synchronize()


def test_objects_of_before_are_refused_by_objects_of_the_child(old):
    assert in_child(lambda: outcomes(MIXED, old, make(synchronous=None))) == dict.fromkeys(MIXED, "refused")


def test_child_works_with_devices_of_its_own_while_the_parents_threads_work(old):
    stop = threading.Event()

    def work(stream):
        memory = old.device.allocate(1 << 16)
        while not stop.is_set():
            for value in range(8):
                stream.fill(memory, bytes([value]))
                stream.call(list)
            stream.synchronize()
        memory.close()
        stream.close()

    def alone():
        new = make(synchronous=False)
        result = np.ones(16, np.float32)
        new.stream.upload(new.x, np.arange(16, dtype=np.float32))
        new.step(new.stream)
        new.stream.call(list)
        new.stream.download(result, new.out)
        new.stream.synchronize(20)
        return result.tolist()

    threads = [threading.Thread(target=work, args=(old.device.stream(synchronous=mode),)) for mode in (False, True)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            assert in_child(alone) == (-np.arange(16, dtype=np.float32)).tolist()
    finally:
        stop.set()
        for thread in threads:
            thread.join(20)


def test_child_ends_by_itself_with_its_parents_objects_and_work_of_its_own(old):
    """The interpreter of the child shuts down in order: nothing of the parent's is waited for, its own work is."""
    opened = threading.Event()
    old.stream.call(lambda: opened.wait(20)) if not old.stream.is_synchronous else None
    child = os.fork()
    if not child:
        new = make(synchronous=False)
        new.stream.fill(new.x, b"\2")
        from ep.plugin import registry

        registry._shut_down()
        os._exit(0 if new.device.is_closed and not old.device.is_closed else 1)
    assert os.waitpid(child, 0)[1] == 0
    opened.set()
