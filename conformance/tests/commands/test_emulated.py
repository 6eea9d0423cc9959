"""`--emulate`, and what is said of a device that a program stands in for."""

from __future__ import annotations

import dataclasses
import json

import pytest
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.plan.subject import Subject
from ep_conformance.report.report import Report
from ep_conformance.run.verdict import Verdict


def test_provider_without_an_emulator_is_exit_2_and_says_where_it_is_named(toy):
    done = toy("run", "--provider", "toy", "--emulate")
    assert done.returncode == 2
    assert done.stderr == (
        "Error: --emulate: provider toy has no emulator; its provider.toml would name one: [emulator] command\n"
    )


def test_unknown_provider_is_exit_2_under_an_emulator_too(toy):
    done = toy("run", "--provider", "nonesuch", "--emulate")
    assert done.returncode == 2
    assert "unknown provider 'nonesuch'" in done.stderr


def name_emulator(toy, *words):
    manifest = toy.packages / "ep_toy" / "provider.toml"
    manifest.write_text(f"{manifest.read_text()}\n[emulator]\ncommand = {json.dumps(words)}\n")


def test_emulator_that_is_not_there_is_exit_3(toy):
    name_emulator(toy, "no-such-emulator", "--")
    done = toy("run", "--provider", "toy", "--emulate")
    assert done.returncode == 3
    assert done.stderr == "Error: --emulate: the emulator of provider toy is not there: no-such-emulator; install it\n"


def test_emulator_gets_the_same_command_without_the_option(toy):
    name_emulator(toy, "echo", "emulating")
    done = toy("run", "--provider", "toy", "--emulate", "--quick", "--filter", "a b")
    words = done.stdout.split()
    assert (done.returncode, words[0]) == (0, "emulating")
    assert words[2:] == ["-m", "ep_conformance", "run", "--provider", "toy", "--quick", "--filter", "a", "b"]


@pytest.mark.parametrize("features", [(), ("emulated",)])
def test_verdict_says_that_a_device_is_emulated(features):
    device = {"name": "toy:0", "model": "Toy", "features": list(features)}
    report = Report(Subject("toy", "1.0", device), "quick", 0, (), 1.0)
    assert report.is_emulated == bool(features)
    for each in (report, dataclasses.replace(report, interrupted=True)):
        assert ("toy 1.0 on toy:0, emulated:" in each.sentence) == bool(features)


@pytest.mark.parametrize(
    ("features", "ran", "said"),
    [
        (("emulated",), ("Plain",), "; not executed: Fast, Library"),
        (("emulated",), ("Fast", "Library", "Plain"), ""),
        (("emulated",), (), ""),
        ((), ("Plain",), ""),
    ],
)
def test_verdict_lists_what_an_emulated_device_did_not_execute(features, ran, said):
    device = {"name": "toy:0", "features": list(features), "implementations": ["Fast", "Library", "Plain"]}
    verdict = Verdict("primitives/a/b/float32/dense/one", Outcome(Status.PASS, ran=ran), counts=True)
    sentence = Report(Subject("toy", "1.0", device), "quick", 0, (verdict,), 1.0).sentence
    assert sentence.partition("notices")[2] == said


def test_claims_of_an_emulated_device_are_refused(toy):
    first = toy.run("toy", "--filter", "runtime/ability/*")
    report = first.json
    report["device"]["features"] = ["emulated"]
    source, target = toy.folder / "emulated.json", toy.folder / "claims.toml"
    source.write_text(json.dumps(report))
    done = toy("claims", "--provider", "toy", "--from", source, "--write", target)
    assert done.returncode == 3
    assert "of this run is emulated" in done.stderr
    assert "claims come from hardware" in done.stderr
    assert not target.exists()
