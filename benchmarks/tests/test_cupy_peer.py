"""The CuPy peer over NumPy in CuPy's place: operands lie as their specs say, and what is timed writes the outputs."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from ep.exchange import dlpack
from ep_benchmarks.peers.peer import peer
from ep_benchmarks.run.judgement import apart
from ep_benchmarks.run.placed import Placed
from ep_primitives.cases.sample import samples

import ep

FAMILIES = ("copy", "elementwise_unary", "broadcast_binary", "permute", "reduce", "gather", "where", "matmul")


@pytest.fixture
def cupy(monkeypatch):
    """Return the peer's module, made with a stand-in that counts how often it is waited for."""
    module = ModuleType("cupy")
    module.__dict__.update({name: getattr(np, name) for name in dir(np) if not name.startswith("__")})
    module.__version__, module.waits, module.used = "stand-in", 0, []
    module.asnumpy = np.asarray
    module.matmul = lambda a, b, *, out: np.matmul(a, b, out=out)  # CuPy 14.2 takes no third positional
    module.take = lambda x, indices, axis, out: np.take(x, indices, axis, out, "clip")

    def wait():
        module.waits += 1

    module.cuda = SimpleNamespace(
        get_current_stream=lambda: SimpleNamespace(synchronize=wait),
        Device=lambda index: SimpleNamespace(use=lambda: module.used.append(index)),
    )
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.delitem(sys.modules, "ep_benchmarks.peers.cuda", raising=False)
    yield importlib.import_module("ep_benchmarks.peers.cuda")
    del sys.modules["ep_benchmarks.peers.cuda"]


def test_cure_names_a_wheel_of_cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.delitem(sys.modules, "ep_benchmarks.peers.cuda", raising=False)
    with pytest.raises(ep.UnavailableError, match="pip install cupy-cuda13x"):
        peer("cupy")


@pytest.mark.parametrize("family", FAMILIES)
def test_results_agree_with_ep(cupy, family):
    chosen = [sample for _, sample in samples() if sample.is_quick and sample.descriptor.family == family]
    stream, calls = ep.device("cpu:0").stream(), 0
    for sample in chosen:
        placed = Placed(stream, sample.descriptor, sample.data(np.random.default_rng(0)))
        placed.run(1)
        call = cupy.PEER.call(sample.descriptor, placed.inputs)
        if call is not None:
            calls += 1
            call.run()
            call.finish()
            assert not apart(sample.descriptor, placed.results(), call.results())
        placed.close()
    assert calls
    assert sys.modules["cupy"].waits == calls


def test_it_uses_the_device_of_the_same_number(cupy):
    device = SimpleNamespace(name="cuda:1", twin=SimpleNamespace(dlpack_device=lambda: (dlpack.CUDA, 1)))
    cupy.PEER.use_device(device)
    assert sys.modules["cupy"].used == [1]


def test_other_devices_are_refused(cupy):
    with pytest.raises(ep.UnavailableError, match=r"peer cupy runs on CUDA, and cpu:0 is none of its devices"):
        cupy.PEER.use_device(ep.device("cpu:0"))
