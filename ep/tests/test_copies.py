"""Runtime objects have no copies, and those that were made in part go without a noise."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import sys

import manual
import numpy as np
import pytest
from ep.exchange import dlpack
from ep.memory import memory, segment

import ep

SPEC = ep.TensorSpec("float32", (4,))
KINDS = [
    *(kind for kind in vars(ep).values() if inspect.isclass(kind) and not issubclass(kind, BaseException)),
    dlpack.Loan,
    memory.Block,
    segment.Segment,
    manual.ManualStream,
    manual.ManualDevice,
]


@pytest.fixture
def objects(device, stream):
    a, out = device.allocate(16), device.allocate(16)
    primitive = manual.Negate(x=SPEC, out=SPEC).on(device)
    with stream.capture() as graph:
        primitive(stream, x=a, out=out)
    worker = device._enlist(device._over(lambda ledger: ep.spi.Worker(manual.LaneStream(ledger))))
    made = [
        device, device.provider, stream, worker, a, a._block, a._block.lease_ref.segment, a._block.lease, primitive, primitive.bind(x=a, out=out), graph,
        stream.record(), stream.capture(), ep.HostThread("x"), dlpack.Loan(0, None),
    ]  # fmt: skip
    yield made
    worker.close()


@pytest.fixture
def silence(monkeypatch):
    """Return what finalizers could not raise: nothing, at the end of a test."""
    noise = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: noise.append(what.exc_value))
    yield noise
    gc.collect()
    assert noise == []


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps, lambda obj: copy.deepcopy([obj])])
def test_runtime_objects_refuse_copies_in_one_sentence(objects, copied, silence):
    for obj in objects:
        with pytest.raises(
            TypeError, match=rf"^copy or pickle of {type(obj).__name__}: .*; pass the object itself"
        ) as refusal:
            copied(obj)
        assert "\n" not in str(refusal.value)


def test_an_original_works_when_a_copy_was_refused(device, stream, silence):
    a, out = device.allocate(16), device.allocate(16)
    step = manual.Negate(x=SPEC, out=SPEC).on(device).bind(x=a, out=out)
    with pytest.raises(TypeError):
        copy.copy(step)
    gc.collect()
    stream.upload(a, np.ones(16, np.int8))
    step(stream)
    found = np.zeros(16, np.int8)
    stream.download(found, out)
    stream.synchronize()
    assert (found == -1).all()
    step.close()


def test_exports_refuse_copies(host, silence):
    stream = host.stream()
    exported = stream.export(host.allocate(16), SPEC)
    with pytest.raises(TypeError, match=r"^copy or pickle of Exported"):
        copy.deepcopy(exported)


def test_values_are_copied_as_ever():
    descriptor = manual.Negate(x=SPEC, out=SPEC)
    for value in (SPEC, ep.Scalar("int8"), descriptor, ep.MemoryKind.DEVICE, ep.dtype("int8")):
        assert copy.copy(value) == copy.deepcopy(value) == pickle.loads(pickle.dumps(value)) == value


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_objects_that_were_never_initialised_go_quietly(kind, silence):
    if inspect.isabstract(kind):
        kind = type(kind.__name__, (kind,), dict.fromkeys(kind.__abstractmethods__, None))
    made = kind.__new__(kind, 0) if issubclass(kind, int) else _bare(kind)
    del made
    gc.collect()


def _bare(kind):
    try:
        return kind.__new__(kind)
    except (TypeError, ValueError):  # a tuple that is made whole, or not at all
        return None


class Interrupts:
    """Raises KeyboardInterrupt at the n-th line that constructors of EP or of a test provider run."""

    def __init__(self, at):
        self.left = at

    def trace(self, frame, event, _):
        code = frame.f_code
        if code.co_name != "__init__" or not any(part in code.co_filename for part in ("/ep/ep/", "manual.py")):
            return None
        if event == "line":
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt
        return self.trace


def _makers(device, stream):
    a, out = device.allocate(16), device.allocate(16)
    primitive = manual.Negate(x=SPEC, out=SPEC).on(device)
    yield lambda: primitive.bind(x=a, out=out)
    yield device.stream
    yield lambda: device._enlist(device._over(lambda ledger: ep.spi.Worker(manual.LaneStream(ledger))))
    yield lambda: device.allocate(16)
    yield lambda: a[4:8]
    yield stream.capture
    yield lambda: stream.record(timed=False)


@pytest.mark.parametrize("which", range(7), ids=["bind", "stream", "worker", "allocate", "view", "capture", "record"])
def test_a_constructor_may_be_interrupted_at_every_line(device, stream, which, silence):
    make = [*_makers(device, stream)][which]
    at, is_whole = 0, False
    while not is_whole:
        at += 1
        interrupts, before = Interrupts(at), sys.gettrace()
        sys.settrace(interrupts.trace)
        try:
            made = make()
            is_whole = interrupts.left > 0
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
    assert at > 3
    if hasattr(made, "close"):
        made.close()
    device.synchronize()  # which would wait for what is half a stream
    assert silence == []
