"""The peers on OpenCL: plain kernels and pyopencl's arrays, on EP's device, compute what EP computes."""

from __future__ import annotations

import fnmatch
from importlib.resources import files

import numpy as np
import pytest
from click.testing import CliRunner
from ep_benchmarks.cli import command
from ep_benchmarks.peers.peer import Call, Peer, peer
from ep_benchmarks.run.judgement import apart
from ep_benchmarks.run.measure import measure
from ep_benchmarks.run.placed import Placed
from ep_primitives import Copy, Permute, Reduce, Scan
from ep_primitives.cases.sample import Sample, between, samples

import ep

cl = pytest.importorskip("pyopencl")

QUICK = [sample for _, sample in samples() if sample.is_quick and sample.name not in {"1", "1Ki"}]
BOTH = "broadcast_binary/add/* elementwise_unary/*/float32/* copy/* fill/* where/*"
PLAIN = f"{BOTH} arg_reduce/* gather/* layer_norm/* permute/* reduce/* softmax/*"


@pytest.fixture(name="device", scope="module")
def _device():
    try:
        return ep.device("opencl:0")
    except ep.UnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture(name="stream")
def _stream(device):
    return device.stream()


@pytest.fixture(name="plain")
def _plain(device):
    made = peer("plain")
    made.use_device(device)
    return made


def chosen(patterns):
    found = [each for each in QUICK if any(fnmatch.fnmatchcase(each.id, pattern) for pattern in patterns.split())]
    return pytest.mark.parametrize("sample", found, ids=lambda sample: sample.id)


def fault(stream, made, sample):
    """Return by what a peer's result differs from EP's, None if it has no form."""
    placed = Placed(stream, sample.descriptor, sample.data(np.random.default_rng(1)))
    placed.run(1)
    ours = placed.results()
    placed.wipe()
    made.use_memories(placed.memories)
    call = made.call(sample.descriptor, placed.inputs)
    if call is None:
        return None
    for _ in range(2):  # the second run finds the results of the first one in its outputs
        call.run()
    call.finish()
    found = apart(sample.descriptor, ours, call.results())
    placed.close()
    return found


@chosen(PLAIN)
def test_plain_kernels_compute_what_ep_does(stream, plain, sample):
    if "bfloat16" not in sample.id:
        assert fault(stream, plain, sample) == ""


@chosen(BOTH)
def test_arrays_of_pyopencl_compute_what_ep_does(device, stream, sample):
    made = peer("pyopencl")
    made.use_device(device)
    assert fault(stream, made, sample) == ""


TALL = ep.TensorSpec("float32", (96, 40))
FOUR = ep.TensorSpec("float16", (3, 5, 4, 7))


@pytest.mark.parametrize(
    "descriptor",
    [
        Copy(x=ep.TensorSpec("float32", (24, 20), (40, 2), 3), out=ep.TensorSpec("float32", (24, 20))),
        Permute.infer(TALL, (1, 0)),
        Permute.infer(FOUR, (0, 2, 1, 3)),
        Reduce.infer("mean", TALL, 0),
        Reduce.infer("max", TALL, 1),
        Reduce.infer("norm_2", ep.TensorSpec("float32", (96, 128)), None),
        Reduce.infer("sum", FOUR, 3),
        Scan.infer("sum", TALL, 0),
        Scan.infer("sum", ep.TensorSpec("int32", (6, 5, 4)), 1),
    ],
    ids=str,
)
def test_plain_kernels_of_strides_and_rows(stream, plain, descriptor):
    assert fault(stream, plain, Sample("odd", descriptor, {"x": between(-9, 9)})) == ""


def test_there_are_no_forms_of_what_has_none(plain):
    found = {family.name: sample for family, sample in samples() if "bfloat16" in sample.id or family.name == "matmul"}
    assert len(found) > 5
    assert not [name for name, sample in found.items() if plain.call(sample.descriptor, {}) is not None]


def test_plain_kernels_work_on_eps_memories(stream, plain):
    x = ep.TensorSpec("float32", (64,))
    placed = Placed(stream, Copy.infer(x), {"x": np.arange(64, dtype=np.float32)})
    plain.use_memories(placed.memories)
    call = plain.call(placed.descriptor, placed.inputs)
    call.run()
    call.finish()
    assert (placed.results()["out"] == np.arange(64)).all()
    placed.wipe()
    assert not (placed.results()["out"] == np.arange(64)).any()
    own = plain.call(placed.descriptor, placed.inputs)
    own.run()
    own.finish()
    assert not (placed.results()["out"] == np.arange(64)).any()
    placed.close()


def test_peers_use_the_context_of_eps_device(device, plain):
    assert plain._queue.context == device.twin.context


def test_the_device_of_another_provider_leaves_pyopencl_the_choice(plain):
    plain.use_device(ep.device("cpu:0"))
    assert isinstance(plain._queue, cl.CommandQueue)


def test_without_a_device_the_cure_is_told(monkeypatch):
    def choose(interactive):
        raise cl.LogicError("clGetPlatformIDs failed: PLATFORM_NOT_FOUND_KHR")

    monkeypatch.setattr(cl, "create_some_context", choose)
    done = CliRunner().invoke(
        command, ["run", "--provider", "cpu", "--against", "plain", "--quick", "--filter", "copy/*/64Ki"]
    )
    assert isinstance(done.exception, ep.UnavailableError)
    assert "PLATFORM_NOT_FOUND_KHR" in str(done.exception)
    assert "pip install 'execution-provider[opencl]'" in str(done.exception)


def test_the_page_is_of_this_device_and_these_peers(device, tmp_path):
    file = tmp_path / "opencl.md"
    words = ["--provider", "opencl", "--against", "plain,pyopencl", "--rounds", "3", "--filter", "where/*/64Ki"]
    done = CliRunner().invoke(command, ["run", *words, "--markdown", str(file)])
    assert done.exit_code == 0, done.output
    page = file.read_text()
    assert page.startswith("# Performance of opencl\n")
    assert "`make bench-opencl` measures again" in page
    assert "| plain / EP | p25 | pyopencl / EP | p25 |" in page
    assert "p25 below 0.8 in" in page
    assert "p25 below 10 in" in page


class Queued(Peer):
    """A peer that notes what is called."""

    name = "queued"
    version = "1"

    def __init__(self):
        self.log = []

    def use_threads(self, count):
        pass

    def call(self, descriptor, inputs):
        copied = inputs["x"].copy()
        return Call(lambda: self.log.append("run"), lambda: {"out": copied}, lambda: self.log.append("finish"))


class Free:
    """Limits of nothing."""

    def limit(self, work):
        return None


def test_a_peer_is_waited_for_once_after_many_runs():
    made = Queued()
    family, sample = next(each for each in samples() if each[1].id == "copy/-/float32/dense/64Ki")
    measure(family, sample, ep.device("cpu:0").stream(), Free(), {"queued": made}, 3)
    text = "".join(word[0] for word in made.log)
    assert text.startswith("rf")
    assert "rrf" in text
    assert "ff" not in text


def test_every_kernel_is_in_a_file_of_its_name():
    folder = files("ep_benchmarks.peers.opencl.plain").joinpath("kernels")
    texts = [file for part in folder.iterdir() for file in part.iterdir()]
    assert len(texts) >= 20
    for file in texts:
        name = file.name.removesuffix(".cl")
        assert name == "group" or f"kernel void {name}(" in file.read_text()
