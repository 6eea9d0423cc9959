"""`ep-conformance run --bits-of`: the bits of another device, by a provider that is right within its bounds and no more."""

import json
import re
from pathlib import Path

import pytest
from ep_conformance import Trial
from ep_conformance.run.steps.sweep import run_sweep

import ep

EXP = "primitives/elementwise_unary/exp/float32/dense/*"
RELU = "primitives/elementwise_unary/relu/float32/dense/*"
CULPRIT = "primitives/elementwise_unary/exp/float32/dense/size-65537"

PATTERN = (
    r"exp\(x\[\d+\]=\S+\): out\[\d+\] is \S+ with the bits (\S+), needed \S+ with the bits (\S+), "
    r"as cpu:0 gave \((\d+) of 65537 elements\)"
)

NUDGED = '''
"""The CPU's results, of one exponential in 64 the next number."""

import ep
import numpy as np
from ep_conformance.saboteurs.kernel import Defect
from ep_conformance.saboteurs.saboteur import Saboteur


class Nudged(Defect):
    """Round up."""

    meets = "elementwise_unary/exp/float32/*"

    def spoil(self, given, out):
        is_odd = (given["x"].view(np.uint32) % 64 == 33) & (out > 1e-30) & (out < 1e30)
        out[is_odd] = np.nextafter(out, np.float32(np.inf))[is_odd]


@ep.provider_hook
def ep_provider():
    return Saboteur("nudged", Nudged, "").provider()
'''


@pytest.fixture
def nudged(command):
    package, info = command.packages / "ep_nudged", command.packages / "ep_nudged-1.0.dist-info"
    for folder in (package, info):
        folder.mkdir(parents=True)
    (package / "__init__.py").write_text(NUDGED)
    (package / "provider.toml").write_text('name = "nudged"\nvendor = "EP"\nspi = "0.2"\nfork_safe = false\n')
    (package / "claims.toml").write_text('suite = "1.1"\n[[claim]]\ncells = "*/*/*/*"\n')
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ep-nudged\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ep.providers]\nnudged = ep_nudged\n")
    return command


def refusal(done, code):
    assert done.returncode == code
    assert "Traceback" not in done.stdout + done.stderr
    return done.stderr.strip().splitlines()[-1]


def test_difference_within_the_bound_fails_and_is_counted_by_op(nudged):
    page, summary = nudged.folder / "page.html", nudged.folder / "summary.md"
    assert nudged.run("nudged", "--filter", EXP, "--jobs", 1).returncode == 0
    done = nudged.run(
        "nudged", "--filter", EXP, "--jobs", 1, "--bits-of", "cpu:0", "--html", page, "--markdown", summary
    )
    assert done.returncode == 1
    cases = {case["id"]: case for case in done.json["cases"]}
    assert {(case["status"], case["bits"]) for case in cases.values()} == {("pass", "equal"), ("fail", "different")}
    culprit, different = cases[CULPRIT], sum(case["bits"] == "different" for case in cases.values())
    said = re.fullmatch(PATTERN, culprit["reason"])
    assert said, culprit["reason"]
    assert int(said[1], 16) == int(said[2], 16) + 1
    assert 512 < int(said[3]) < 2048
    assert done.json["bits_of"]["name"] == "cpu:0"
    counted = {"compared": len(cases), "equal": len(cases) - different, "incomparable": {}}
    assert done.json["bits"] == counted | {"different": {"elementwise_unary/exp": different}}
    assert f"bits of cpu:0 different: elementwise_unary/exp, {different} case" in done.stdout
    told = f"bits of cpu:0: {len(cases) - different} equal, {different} different, 0 not comparable"
    assert done.stdout.splitlines()[-1].endswith(told)
    for text in (page.read_text(), summary.read_text()):
        assert "Bits of cpu:0" in text
        assert "elementwise_unary/exp" in text
    replay = nudged.folder / culprit["replay"]
    assert json.loads(replay.read_text())["bits_of"] == "cpu:0"
    again = nudged("replay", replay)
    assert again.returncode == 1
    assert re.search(PATTERN, again.stdout)
    script = nudged.folder / "script.py"
    script.write_text(nudged("replay", "--script", replay).stdout)
    assert "other=ep.device('cpu:0')" in script.read_text()


def test_sums_are_left_out_with_the_reason(nudged):
    done = nudged.run("nudged", "--filter", "primitives/softmax/*/float32/rank0/*", "--jobs", 1, "--bits-of", "cpu:0")
    (why,) = done.json["bits"]["incomparable"]
    assert why == "the family leaves open how its results are rounded"
    assert done.json["bits"]["compared"] == 0
    assert done.returncode == 1
    assert "no bits were compared with those of cpu:0" in done.stdout.splitlines()[-1]


def test_run_is_continued_by_one_that_compares_with_the_same_device(nudged):
    words = ("--filter", EXP, "--jobs", 1, "--no-replays")
    plain = nudged.run("nudged", *words)
    assert plain.json["bits_of"] is plain.json["bits"] is None
    earlier = Path(nudged.report).rename(nudged.folder / "earlier.json")
    said = refusal(nudged.run("nudged", *words, "--bits-of", "cpu:0", "--resume", earlier), 2)
    assert "is of bits_of None, this run of {" in said


@pytest.mark.skipif("fused-multiply-add" not in ep.device("cpu:0").info.features, reason="this CPU has one class")
def test_device_of_another_class_is_refused_with_the_cure(toy):
    said = refusal(toy.run("toy", "--filter", RELU, "--bits-of", "cpu:0"), 2)
    assert "cpu:0 rounds x y + z once (fused-multiply-add), toy:0 twice" in said
    assert "EP_CPU_ISA=baseline ep-conformance run" in said


def test_device_of_the_same_class_is_compared(toy):
    done = toy.run("toy", "--filter", RELU, "--bits-of", "cpu:0", EP_CPU_ISA="baseline")
    assert done.returncode == 0
    assert done.json["bits"]["equal"] == done.json["summary"]["pass"]


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("cpu", 2, "'cpu' is no device; write a provider's name and a number, such as cpu:0"),
        ("cpu:one", 2, "'cpu:one' is no device"),
        ("nonesuch:0", 2, "unknown provider 'nonesuch'"),
        ("toy:0", 2, "--bits-of toy:0 is the device itself"),
        ("cpu:7", 3, "cpu:7: not on this machine"),
    ],
)
def test_no_other_device_is_wrong_use_or_unavailable(toy, name, code, said):
    assert said in refusal(toy.run("toy", "--filter", RELU, "--bits-of", name), code)


def test_every_float32_is_compared(monkeypatch):
    from ep_conformance.plan.sweep import sweeps

    monkeypatch.setattr("ep_conformance.run.steps.sweep.INPUTS", 1 << 16)
    family, cpu = ep.families()["elementwise_unary"], ep.device("cpu:0")
    sweep = next(iter(sweeps(family, ep.Cell("elementwise_unary", "exp", "float32", "dense"))))
    for other, bits in ((None, ""), (cpu, "equal")):
        trial = Trial(cpu, sweep.name, other=other)
        assert run_sweep(trial, family, sweep).bits == bits
        trial.close()
