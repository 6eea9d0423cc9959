"""`ep-conformance report`: other formats of a report that is there, also of a run that was killed."""

import json
from dataclasses import replace

import samples
from ep_conformance.cli import run_command
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.report.file import read_report
from ep_conformance.report.journal import Journal, journal_of
from ep_conformance.report.report import heading

RELU = "primitives/elementwise_unary/relu/float32/dense/*"


def test_run_writes_every_format_and_report_writes_the_same(toy):
    formats = ("html", "markdown", "junit")
    words = [word for name in formats for word in (f"--{name}", toy.folder / f"run.{name}")]
    assert toy.run("toy", "--filter", RELU, *words, EP_TOY="wrong").returncode == 1
    words = [word for name in formats for word in (f"--{name}", toy.folder / f"report.{name}")]
    done = toy("report", toy.report, *words, "--check")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("FAIL (1 fail): toy")
    assert len(done.stdout.splitlines()) == 1
    for name in formats:
        assert (toy.folder / f"run.{name}").read_text() == (toy.folder / f"report.{name}").read_text()


def test_partial_report_will_do(tmp_path, capsys):
    partial = replace(samples.every_kind(), interrupted=True)
    partial.write_json(tmp_path / "report.json")
    assert run_command(["report", str(tmp_path / "report.json"), "--html", str(tmp_path / "page.html")]) == 0
    assert capsys.readouterr().out.startswith("INTERRUPTED: toy")
    assert "INTERRUPTED" in (tmp_path / "page.html").read_text()


def test_journal_of_a_killed_run_is_read_too(tmp_path):
    path = tmp_path / "report.json"
    whole = samples.report(*(samples.verdict(name, Status.PASS) for name in ("one", "two", "three")))
    lost = Outcome(Status.MISSING, "the run was still going on")
    partial = replace(
        whole, verdicts=(whole.verdicts[0], *(replace(v, outcome=lost) for v in whole.verdicts[1:])), interrupted=True
    )
    partial.write_json(path)
    title = heading(partial.subject, partial.profile, partial.seed, partial.pattern)
    journal = Journal(journal_of(path), title, whole.verdicts[:2])
    journal.close()
    assert [verdict.status for verdict in read_report(path).verdicts] == [Status.PASS, Status.PASS, Status.MISSING]
    Journal(journal_of(path), title | {"seed": 99}, whole.verdicts).close()
    assert read_report(path) == partial, "a journal of another run is none of ours"
    journal_of(path).write_text("torn")
    assert read_report(path) == partial


def test_check_lists_what_is_wrong_and_is_exit_1(tmp_path, capsys):
    table = samples.every_kind().as_json()
    table["cases"][0]["status"] = "good"
    table["user"] = "me"
    (tmp_path / "report.json").write_text(json.dumps(table))
    assert run_command(["report", str(tmp_path / "report.json"), "--check"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any("'user'" in line for line in lines)
    assert any(line.startswith("$.cases[0].status") for line in lines)


def test_what_is_no_report_is_one_line(tmp_path, capsys):
    file = tmp_path / "report.json"
    for text in (None, "{", "[]", '{"schema": 1}', json.dumps(samples.report().as_json() | {"cases": [{}]})):
        if text is not None:
            file.write_text(text)
        assert run_command(["report", str(file), "--html", str(tmp_path / "page.html")]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1
        assert not (tmp_path / "page.html").exists()


def test_folder_that_is_not_there_is_exit_2_before_anything(tmp_path, capsys):
    samples.report().write_json(tmp_path / "report.json")
    for name in ("html", "markdown", "junit"):
        assert run_command(["report", str(tmp_path / "report.json"), f"--{name}", str(tmp_path / "nowhere" / "x")]) == 2
        assert "folder does not exist" in capsys.readouterr().err
