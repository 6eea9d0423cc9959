"""The report as JSON: what is written is what is read, and says how the run was made."""

import json
import os
from pathlib import Path

import pytest
from ep_conformance import SUITE
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.plan.subject import Subject
from ep_conformance.report.environment import environment
from ep_conformance.report.report import Report, report_of
from ep_conformance.run.verdict import First, Verdict

RELU = "primitives/elementwise_unary/relu/float32/dense/*"
VERDICTS = (
    Verdict("runtime/a/b", Outcome(Status.PASS, seconds=0.5, attested="native"), counts=True),
    Verdict("runtime/a/c", Outcome(Status.FAIL, "wrong\nµ", 2.0), counts=True, first=First(Status.FAIL, "wrong")),
    Verdict("runtime/a/d", Outcome(Status.UNSUPPORTED, "accepted"), counts=False, notice=True),
)
REPORT = Report(
    Subject("toy", "1.2", {"name": "toy:0", "model": "abacus"}),
    "quick",
    7,
    VERDICTS,
    1.5,
    pattern="runtime/*",
    jobs=3,
    started="2026-11-21T10:00:00+00:00",
    peak_memory=1 << 20,
    environment={"ep": "0.1"},
)


def test_report_comes_back_as_it_was(tmp_path):
    REPORT.write_json(tmp_path / "report.json")
    assert report_of(json.loads((tmp_path / "report.json").read_text())) == REPORT


def test_file_has_one_line_a_case(tmp_path):
    REPORT.write_json(tmp_path / "report.json")
    lines = [
        line for line in (tmp_path / "report.json").read_text().splitlines() if '"runtime/a/' in line and "{" in line
    ]
    assert [json.loads(line.rstrip(","))["id"] for line in lines] == [verdict.id for verdict in VERDICTS]


def test_verdict_and_exit_code_are_said():
    table = REPORT.as_json()
    assert table["verdict"] == REPORT.sentence
    assert table["exit_code"] == REPORT.exit_code == 1


@pytest.mark.parametrize(
    "change", [{"schema": 1}, {"cases": [{}]}, {"device": {}}, {"seconds": "long"}, {"jobs": None}]
)
def test_what_is_no_report_is_refused(change):
    with pytest.raises((KeyError, TypeError, ValueError)):
        report_of(REPORT.as_json() | change)


def test_run_says_how_it_was_made(toy):
    table = toy.run("toy", "--filter", RELU, "--jobs", 1, "--seed", 3).json
    assert (table["filter"], table["jobs"], table["seed"], table["suite"]) == (RELU, 1, 3, SUITE)
    assert table["started"].endswith("+00:00")
    assert table["environment"]["variables"]["EP_TOY_MARK"]
    assert table["environment"]["numpy"]


def test_environment_names_no_user(monkeypatch):
    monkeypatch.setenv("EP_THING", os.fspath(Path.home() / "thing"))
    monkeypatch.setenv("SECRET", "x")
    found = environment()
    assert found["variables"]["EP_THING"] == "~/thing"
    assert "SECRET" not in found["variables"]
