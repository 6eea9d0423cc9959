"""`ep-bench run` judges before it times, says what disagrees, and writes its files; its timings decide nothing here."""

from __future__ import annotations

import importlib.metadata
import json
import time
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from ep_benchmarks.cli import command
from ep_benchmarks.limits.device import DeviceLimits
from ep_benchmarks.limits.work import Limit
from ep_benchmarks.peers import peer as peers
from ep_benchmarks.peers.peer import Call, Peer
from ep_benchmarks.run import command as run_command
from ep_benchmarks.run import measure as run_measure
from ep_benchmarks.run.computed import Computed
from ep_benchmarks.run.judgement import apart, wrong
from ep_benchmarks.run.measure import measure
from ep_benchmarks.run.placed import Placed
from ep_benchmarks.run.row import Ratio, Row, summaries
from ep_primitives import ElementwiseUnary, RandomFill
from ep_primitives.cases.sample import samples

import ep

FOUND = {sample.id: (family, sample) for family, sample in samples()}
COPY = "copy/-/float32/dense/64Ki"
EXP = "elementwise_unary/exp/float32/dense/1Ki"


class Other(Peer):
    """A peer with one function for all samples."""

    name = "other"
    version = "1"

    def __init__(self, function):
        self.function = function

    def use_threads(self, count):
        pass

    def call(self, descriptor, inputs):
        outs = {}

        def work():
            outs["out"] = self.function(inputs["x"])

        return Call(work, lambda: outs)


@pytest.fixture(autouse=True)
def _device_limits(monkeypatch):
    """Spare tests the second that the host's own limits take."""
    monkeypatch.setattr(run_command, "_limits", lambda device, stream: DeviceLimits(stream))


@pytest.fixture(name="stream")
def _stream():
    return ep.device("cpu:0").stream()


def invoke(*words):
    return CliRunner().invoke(command, ["run", "--rounds", "3", "--provider", "cpu", *words])


def row(case, stream, **against):
    family, sample = FOUND[case]
    return measure(family, sample, stream, DeviceLimits(stream), against, 3)


def test_a_peer_that_agrees_is_timed(stream):
    made = row(COPY, stream, other=Other(np.copy))
    assert made.us > 0
    assert made.fraction > 0
    assert made.peers["other"].ratio > 0
    assert not made.faults


def test_a_peer_that_does_something_else_is_not_timed_and_is_told(stream):
    made = row(EXP, stream, other=Other(np.expm1))
    assert not made.peers
    assert "other: out differs in" in made.faults[0]


def test_a_peer_that_raises_is_told(stream):
    made = row(EXP, stream, other=Other(lambda x: x @ np.zeros(3)))
    assert made.faults[0].startswith("other: ValueError")


def test_a_wrong_kernel_is_told_and_not_timed(stream, monkeypatch):
    def spoilt(self):
        found = true(self)
        found["out"][40:44] = 0
        return found

    true = Placed.written
    monkeypatch.setattr(Placed, "written", spoilt)
    for case in (COPY, EXP, "softmax/-/float32/dense/256x256"):
        made = row(case, stream, other=Other(np.copy))
        assert not made.us
        assert not made.peers
        assert made.faults[0].startswith("EP: out[")


def test_large_results_are_judged_at_their_beginning_middle_and_end(stream):
    family, sample = FOUND["elementwise_unary/relu/float32/dense/1Mi"]
    placed = Placed(stream, sample.descriptor, sample.data(np.random.default_rng(1)))
    placed.run(1)
    assert not wrong(family, sample, placed)
    for at in (3, 1 << 19, (1 << 20) - 1):
        written = placed.written()
        written["out"].view(np.float32)[at] += 1

        spoilt = SimpleNamespace(part=placed.part, written=lambda written=written: written)
        assert wrong(family, sample, spoilt)
    placed.close()


def test_arithmetic_binds_where_it_takes_longer_than_memory(stream):
    _, sample = FOUND["elementwise_unary/lgamma/float32/dense/1Mi"]
    computed = Computed(sample, stream, [Other(np.copy)], np.random.default_rng(1))
    bound = computed.binding(Limit("memory", [lambda count: None]))
    assert bound.kind == "arithmetic"
    bound.runs[0](1)
    slow = Limit("memory", [lambda count: time.sleep(0.05 * count)])
    assert computed.binding(slow) is slow
    computed.close()


def test_arithmetic_of_a_sum_counts_what_it_reads(stream):
    _, sample = FOUND["cross_entropy/-/float32,int64->float32/dense/4096x1000"]
    computed = Computed(sample, stream, [], np.random.default_rng(1))
    assert computed.binding(Limit("float32", [lambda count: None])).kind == "arithmetic"
    assert computed.times == pytest.approx(4096 / 65)
    computed.close()


def test_random_numbers_are_compared_by_their_moments():
    descriptor = RandomFill.infer("uniform", ep.TensorSpec("float32", (10_000,)))
    one, other = ({"out": np.random.default_rng(seed).random(10_000, np.float32)} for seed in (1, 2))
    assert not apart(descriptor, one, other)
    assert "has the mean" in apart(descriptor, one, {"out": other["out"] + 1})


def test_special_values_have_to_agree():
    descriptor = ElementwiseUnary.infer("log", ep.TensorSpec("float32", (3,)))
    ours = {"out": np.array([1, np.nan, np.inf], np.float32)}
    assert not apart(descriptor, ours, {"out": np.array([1.00001, np.nan, np.inf], np.float32)})
    assert apart(descriptor, ours, {"out": np.array([1, 0, np.inf], np.float32)})
    assert apart(descriptor, ours, {"out": np.array([1, np.nan, -np.inf], np.float32)})


def test_files_hold_the_report(tmp_path):
    files = {kind: tmp_path / f"report.{kind}" for kind in ("json", "html", "markdown")}
    words = [word for kind, file in files.items() for word in (f"--{kind}", str(file))]
    done = invoke("--against", "numpy", "--filter", "copy/*/64Ki", "--filter", "where/*/64Ki", *words)
    assert done.exit_code == 0, done.output
    report = json.loads(files["json"].read_text())
    assert report["schema"] == 1
    assert {"limits", "rows", "summary", "machine", "versions"} <= report.keys()
    assert [each["case"] for each in report["rows"]] == [COPY, "where/-/bool,float32->float32/dense/64Ki"]
    for each in report["rows"]:
        assert {"case", "family", "dtype", "size", "ep_us", "limit_fraction", "peers"} <= each.keys()
        assert each["ep_us"] > 0
        assert each["limit_fraction"] > 0
        assert each["peers"]["numpy"].keys() == {"us", "ratio", "p25"}
    assert report["summary"]["numpy"].keys() >= {"geomean", "worst"}
    page = files["html"].read_text()
    assert "<svg" in page
    assert "http" not in page
    assert "copy 64Ki" in page
    assert "| copy 64Ki | float32 | 65,536 |" in files["markdown"].read_text()


def test_a_disagreement_is_exit_code_1(monkeypatch):
    monkeypatch.setattr(run_command, "peer", lambda name: Other(np.negative))
    done = invoke("--against", "other", "--filter", EXP)
    assert done.exit_code == 1
    assert "1 disagreements" in done.output


def test_interruption_prints_what_was_measured(monkeypatch, tmp_path):
    def interrupted(*given):
        if seen:
            raise KeyboardInterrupt
        seen.append(given)
        return true(*given)

    seen, true = [], run_measure.measure
    monkeypatch.setattr(run_measure, "measure", interrupted)
    file = tmp_path / "report.json"
    done = invoke("--filter", "elementwise_unary/relu/*/1*", "--json", str(file))
    assert done.exit_code == 130
    assert "1 samples measured" in done.output
    assert not json.loads(file.read_text())["is_whole"]


def test_unsupported_samples_are_listed_and_no_error(monkeypatch):
    def unsupported(*given):
        raise ep.UnsupportedError("nothing for it")

    monkeypatch.setattr(run_measure, "measure", unsupported)
    done = invoke("--filter", COPY)
    assert done.exit_code == 0
    assert f"unsupported: {COPY}" in done.output
    assert "no sample is supported" in done.output


def test_a_launch_that_fails_is_a_line_of_the_report(monkeypatch):
    def failing(*given):
        raise ep.DeviceError("the device trapped")

    monkeypatch.setattr(run_measure, "measure", failing)
    done = invoke("--filter", COPY)
    assert done.exit_code == 1
    assert "EP: DeviceError: the device trapped" in done.output


def test_list_prints_ids():
    done = CliRunner().invoke(command, ["run", "--list", "--filter", "copy/*"])
    assert COPY in done.output.splitlines()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--filter", "nothing/*"], "matches none"),
        (["--against", "nobody"], "unknown peer"),
        (["--json", "/no/such/folder/report.json"], "No such file"),
        (["--json", "report", "--html", "report"], "is given for two reports"),
        (["--rounds", "1"], "1 is not in the range"),
    ],
)
def test_wrong_use_is_told_before_anything_is_measured(words, text):
    done = invoke(*words)
    assert done.exit_code != 0
    assert text in f"{done.output} {done.exception}"
    assert "case " not in done.output


def test_a_provider_is_needed():
    assert "give the provider" in CliRunner().invoke(command, ["run"]).output


class Entry:
    """An entry point whose loading does what it is told."""

    name = "acme"
    value = "acme_bench:PEER"

    def __init__(self, load):
        self.load = load


def test_a_missing_package_is_one_line(monkeypatch):
    def load():
        raise ModuleNotFoundError("No module named 'acme'", name="acme")

    monkeypatch.setattr(peers, "entry_points", lambda group: [Entry(load)])
    with pytest.raises(ep.UnavailableError, match="peer acme needs acme, which is not installed: pip install acme"):
        peers.peer("acme")


def test_a_strangers_peer_is_found(monkeypatch):
    made = Other(np.copy)
    monkeypatch.setattr(peers, "entry_points", lambda group: [Entry(lambda: made)])
    assert peers.known_peers() == ["acme"]
    assert peers.peer("acme") is made
    monkeypatch.setattr(peers, "entry_points", lambda group: [Entry(lambda: 3)])
    with pytest.raises(ep.UnavailableError, match="needs an instance of a subclass"):
        peers.peer("acme")


def test_own_peers_come_in_as_strangers_do():
    names = {entry.name for entry in importlib.metadata.entry_points(group="ep_bench.peers")}
    assert {"cupy", "numpy", "torch", "plain", "pyopencl"} <= names


def test_a_peer_is_behind_by_its_own_goal():
    pairs = {"near": Ratio(1.0, 1.0, 0.9), "slow": Ratio(9.0, 9.0, 8.0)}
    found = summaries([Row("case", "label", "copy", "float32", 1, 4, 4, 0, peers=pairs)], {"near": 0.8, "slow": 10.0})
    assert {name: each.below for name, each in found.items()} == {"near": 0, "slow": 1}
