"""A run that continues another: no verdict is lost, none is made up."""

import json

import pytest
from ep_conformance import session
from ep_conformance.cli import run_command
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.plan.subject import Subject
from ep_conformance.report.journal import BusyError, Journal, journal_of
from ep_conformance.report.report import heading
from ep_conformance.report.resume import ResumeError, read_verdicts
from ep_conformance.run.record import record
from ep_conformance.run.verdict import Verdict

RELU = "primitives/elementwise_unary/relu/float32/dense/*"
SUBJECT = Subject("toy", "1.0", {"name": "toy:0"})
ONE = Verdict("one", Outcome(Status.FAIL, "wrong", seconds=0.5), counts=True)
CULPRIT = "primitives/elementwise_unary/relu/float32/dense/size-17"


def test_verdicts_are_kept_failures_too_and_the_missing_run(toy):
    first = toy.run("toy", "--filter", RELU, EP_TOY="wrong").json
    missing = first["cases"][0]
    assert missing["id"] != CULPRIT
    missing["status"] = "missing"
    earlier = toy.folder / "earlier.json"
    earlier.write_text(json.dumps(first))
    done = toy.run("toy", "--filter", RELU, "--resume", earlier)
    assert done.returncode == 1
    assert len(done.json["cases"]) == len(first["cases"])
    changed = [now for was, now in zip(first["cases"], done.json["cases"], strict=True) if was != now]
    assert [(case["id"], case["status"]) for case in changed] == [(missing["id"], "pass")]
    assert done.json["summary"] == first["summary"]
    (culprit,) = (case for case in done.json["cases"] if case["id"] == CULPRIT)
    assert culprit["status"] == culprit["first"]["status"] == "fail"


def test_case_of_another_standing_runs_again(toy):
    first = toy.run("toy", "--filter", RELU, EP_TOY="wrong").json
    earlier = toy.folder / "earlier.json"
    earlier.write_text(json.dumps(first))
    claims = toy.packages / "ep_toy" / "claims.toml"
    claims.write_text('suite = "1.0"\n')
    done = toy.run("toy", "--filter", RELU, "--resume", earlier)
    assert {case["status"] for case in done.json["cases"]} == {"unsupported"}
    assert all("not claimed, but accepted: pass" in case["reason"] for case in done.json["cases"])


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 5},
        {"profile": "standard"},
        {"filter": "*"},
        {"suite": "0.9"},
        {"schema": 1},
        {"provider": {"name": "toy", "version": "0.1"}},
        {"device": {}},
    ],
)
@pytest.mark.parametrize("is_journal", [False, True])
def test_report_and_journal_of_another_run_are_refused(tmp_path, change, is_journal):
    path, title = tmp_path / "report.json", heading(SUBJECT, "quick", 0, None)
    if is_journal:
        Journal(journal_of(path), title | change, [ONE]).close()
    else:
        path.write_text(json.dumps(title | change | {"cases": [record(ONE)]}))
    with pytest.raises(ResumeError, match=f"is of {next(iter(change))} .*, this run of .*--jobs"):
        read_verdicts(path, title)
    assert read_verdicts(path, title | change) == {ONE.id: ONE}


def test_journal_is_resumed_by_its_own_name_too_and_once_it_is_gone_the_report_beside_it(tmp_path):
    path, title = tmp_path / "report.json", heading(SUBJECT, "quick", 0, None)
    for verdicts in ([], [ONE]):
        Journal(journal_of(path), title, verdicts).close()
        assert read_verdicts(journal_of(path), title) == {verdict.id: verdict for verdict in verdicts}
    journal_of(path).unlink()
    path.write_text(json.dumps(title | {"cases": [record(ONE)]}))
    assert read_verdicts(journal_of(path), title) == {ONE.id: ONE}


def test_report_may_be_called_journal(tmp_path):
    path, title = tmp_path / "mine.journal", heading(SUBJECT, "quick", 0, None)
    path.write_text(json.dumps(title | {"cases": [record(ONE)]}))
    assert read_verdicts(path, title) == {ONE.id: ONE}


def test_only_what_differs_of_a_device_is_said(toy):
    earlier = toy.folder / "earlier.json"
    report = toy.run("toy", "--filter", RELU).json
    earlier.write_text(json.dumps(report | {"device": report["device"] | {"compute_units": 99}}))
    done = toy.run("toy", "--filter", RELU, "--resume", earlier)
    assert done.returncode == 2
    assert "is of device {'compute_units': 99}, this run of {'compute_units': " in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_report_with_a_case_that_is_no_record_is_refused(tmp_path):
    path, title = tmp_path / "report.json", heading(SUBJECT, "quick", 0, None)
    path.write_text(json.dumps(title | {"cases": [record(ONE) | {"margin": "large"}]}))
    with pytest.raises(ResumeError, match="is no report of ep-conformance run --json"):
        read_verdicts(path, title)


def test_report_that_is_none_is_refused_in_one_line(toy):
    earlier = toy.folder / "earlier.json"
    for text in (None, "{"):
        if text is not None:
            earlier.write_text(text)
        done = toy.run("toy", "--filter", RELU, "--resume", earlier)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
        assert "Traceback" not in done.stderr


def test_journal_is_the_runs_own_until_its_report_is_written(tmp_path, monkeypatch):
    finish, seen = session.finish, []

    def watched(path, report):
        with pytest.raises(BusyError):
            Journal(journal_of(path), {}, [])
        seen.append(path)
        finish(path, report)

    monkeypatch.setattr(session, "finish", watched)
    file = tmp_path / "report.json"
    words = ["run", "--provider", "cpu", "--quick", "--filter", "runtime/fill/pattern-of-1-byte", "--json", str(file)]
    assert run_command(words) == 0
    assert seen == [file]
    assert [*tmp_path.iterdir()] == [file]
