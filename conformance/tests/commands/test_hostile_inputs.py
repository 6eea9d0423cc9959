"""What a stranger hands to the commands: damaged files, files that are none, a disk that is full. Always a sentence."""

import errno
import json
import os

import pytest
import samples
from ep.plugin.claims import ClaimsError, parse_claims
from ep_conformance.cli import run_command
from ep_conformance.commands import list as list_command
from ep_conformance.report.file import ReportError, read_report
from ep_conformance.report.formats import write_formats
from ep_conformance.report.journal import BusyError, Journal
from ep_conformance.report.report import write_text
from ep_conformance.report.resume import ResumeError, read_verdicts
from ep_conformance.untrusted import read_json


@pytest.mark.parametrize("text", ["[" * 100_000, "NaN", "-Infinity", "1" * 5000, "{", b"\xff"])
def test_json_that_is_none_is_a_value_error(text):
    with pytest.raises(ValueError, match=r"."):
        read_json(text)


def hostile_tables():
    """Yield a report of every kind with one place of it replaced by what does not belong there."""
    good = samples.every_kind().as_json()
    for path in (
        [(key,) for key in good]
        + [("device", key) for key in good["device"]]
        + [("cases", 1, key) for key in good["cases"][1]]
    ):
        for value in (None, True, -1, 1e308, 10**39, "", [], [None], {}, {"name": None}):
            table = json.loads(json.dumps(good))
            place = table
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
            yield table


def test_hostile_report_is_refused_or_written(tmp_path):
    file, refused = tmp_path / "r.json", 0
    for table in hostile_tables():
        file.write_text(json.dumps(table), encoding="utf-8")
        try:
            report = read_report(file)
        except ReportError:
            refused += 1
        else:
            write_formats(report, tmp_path, html=None, markdown=tmp_path / "r.md", junit=tmp_path / "r.xml")
    assert refused > 100


@pytest.mark.parametrize("text", ["[" * 100_000, "[]", "null", "{}"])
def test_resume_of_what_is_no_report_is_a_sentence(tmp_path, text):
    file = tmp_path / "r.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ResumeError, match="is no report"):
        read_verdicts(file, {"schema": 2})


@pytest.mark.parametrize("text", ["[" * 100_000, "[]", '{"cases": [{"id": null}]}'])
def test_accuracy_of_what_is_no_report_is_exit_2(tmp_path, capsys, text):
    file = tmp_path / "r.json"
    file.write_text(text, encoding="utf-8")
    assert run_command(["accuracy", "softmax/*/*", "--report", str(file)]) == 2
    assert "is no JSON report" in capsys.readouterr().err


def test_claims_that_are_no_text_are_exit_2_before_a_run(tmp_path, capsys):
    file = tmp_path / "claims.toml"
    file.write_bytes(b"\xff\xfe")
    assert run_command(["claims", "--provider", "cpu", "--check", str(file)]) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert file.read_bytes() == b"\xff\xfe"


def test_claim_that_is_no_table_is_named():
    with pytest.raises(ClaimsError, match=r"claim is 7, needs \[\[claim\]\] tables"):
        parse_claims('suite = "1.0"\nclaim = 7\n', "claims.toml")


@pytest.mark.parametrize("words", [["run", "--provider", "cpu"], ["next", "--provider", "cpu"]])
def test_hang_limit_that_is_no_number_is_exit_2(capsys, words):
    assert run_command([*words, "--hang-limit", "nan"]) == 2
    assert "nan is no number of seconds" in capsys.readouterr().err


def test_false_alarms_of_an_unknown_provider_is_exit_2(capsys):
    assert run_command(["selftest", "--false-alarms", "1", "--provider", "nobody"]) == 2
    assert "unknown provider 'nobody'" in capsys.readouterr().err


def test_disk_that_is_full_is_a_sentence(monkeypatch, capsys):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(list_command, "list_ids", full)
    assert run_command(["list"]) == 2
    assert "No space left on device" in capsys.readouterr().err


def test_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "report")
    assert os.read(reader, 100) == b"report"
    os.close(reader)
    assert pipe.is_fifo()


def test_link_stays_one(tmp_path):
    (tmp_path / "link").symlink_to("file")
    write_text(tmp_path / "link", "report")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "report"


def test_journal_of_another_run_is_left_to_it(tmp_path):
    path = tmp_path / "r.json.journal"
    first = Journal(path, {"schema": 2}, ())
    with pytest.raises(BusyError, match="written by another run"):
        Journal(path, {"schema": 3}, ())
    first.close()
    assert json.loads(path.read_text()) == {"schema": 2}
    Journal(path, {"schema": 3}, ()).close()
    assert json.loads(path.read_text()) == {"schema": 3}
