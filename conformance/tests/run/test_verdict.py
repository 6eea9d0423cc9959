"""From an outcome and a standing to a verdict, and from verdicts to a report."""

import json
from xml.etree import ElementTree as ET

import pytest
from ep_conformance import SUITE
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.plan.planned import Planned, Standing
from ep_conformance.plan.subject import Subject
from ep_conformance.report.junit import write_junit
from ep_conformance.report.report import Report
from ep_conformance.run.verdict import FIRST_FAILURE, UNAVAILABLE, Verdict, settle

EXPECTED = Planned("primitives/a/b/float32/dense/one", Standing.EXPECTED)


def report(*verdicts, interrupted=False):
    subject = Subject("toy", "1.2", {"name": "toy:0"})
    return Report(subject, "quick", 7, verdicts, 1.5, interrupted)


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.UNSUPPORTED, Status.UNEXPECTED_PASS}))
def test_expected_cases_keep_their_status(status):
    verdict = settle(EXPECTED, Outcome(status, "why"))
    assert (verdict.status, verdict.counts) == (status, True)
    assert verdict.is_failure == (status not in {Status.PASS, Status.NEW})


def test_claimed_and_unsupported_fails():
    verdict = settle(EXPECTED, Outcome(Status.UNSUPPORTED, "no such kernel"))
    assert verdict.status is Status.FAIL
    assert "claimed, but unsupported: no such kernel" in verdict.outcome.reason


@pytest.mark.parametrize("status", [Status.PASS, Status.FAIL, Status.CRASH])
def test_unclaimed_and_accepted_is_a_notice_and_no_failure(status):
    verdict = settle(Planned("x", Standing.UNCLAIMED), Outcome(status))
    assert verdict.notice
    assert not verdict.counts
    assert not verdict.is_failure
    assert verdict.status is Status.UNSUPPORTED


def test_new_never_counts():
    verdict = settle(Planned("x", Standing.NEW), Outcome(Status.FAIL, "wrong"))
    assert (verdict.status, verdict.counts, verdict.is_failure) == (Status.NEW, False, False)
    assert "fail: wrong; repair it, and raise suite" in verdict.outcome.reason
    assert verdict.notice, "what will fail one day is said today"
    assert not settle(Planned("x", Standing.NEW), Outcome(Status.PASS)).notice


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.PASS, Status.UNSUPPORTED, Status.NEW}))
def test_any_failing_status_gives_exit_1(status):
    good = settle(EXPECTED, Outcome(Status.PASS))
    assert report(good).exit_code == 0
    assert report(good, Verdict("x", Outcome(status), counts=True)).exit_code == 1


def test_nothing_expected_is_a_failure():
    assert report().exit_code == 1
    assert report(settle(Planned("x", Standing.NEW), Outcome(Status.PASS))).exit_code == 1


def test_interrupted_is_130():
    assert report(settle(EXPECTED, Outcome(Status.PASS)), interrupted=True).exit_code == 130


def test_all_missing_for_want_of_a_device_is_unavailable():
    """A claim that matches nothing is missing, too, and says nothing of the device."""
    lost = settle(EXPECTED, Outcome(Status.MISSING, f"toy:0 {UNAVAILABLE}: unplugged"))
    stale = settle(Planned("claims/x", Standing.STALE), Outcome(Status.MISSING, "matches nothing"))
    short = settle(EXPECTED, Outcome(Status.MISSING, "not run: it needs about 9.0 GiB of memory"))
    for verdicts, code in (((lost,), 3), ((lost, stale), 3), ((stale,), 1), ((short,), 1)):
        assert report(*verdicts).exit_code == code
    assert report(lost, settle(EXPECTED, Outcome(Status.PASS))).exit_code == 1
    assert report(lost, interrupted=True).exit_code == 130
    assert "unplugged" in report(stale, lost).sentence


def test_first_failure_that_ends_a_run_is_a_failure():
    cut = settle(EXPECTED, Outcome(Status.MISSING, FIRST_FAILURE))
    made = report(settle(EXPECTED, Outcome(Status.FAIL, "wrong")), cut, interrupted=True)
    assert made.exit_code == 1
    assert made.sentence.startswith("FAIL: ")
    assert "ended by --fail-fast at its first failure: 1 of 2 expected cases have a verdict" in made.sentence


def test_notices_of_failing_cases_come_first():
    unclaimed = [Planned(name, Standing.UNCLAIMED) for name in "abcd"]
    passing, failing = Outcome(Status.PASS), Outcome(Status.FAIL, "wrong")
    made = report(*map(settle, unclaimed, (passing, failing, passing, failing)))
    assert [verdict.id for verdict in made.notices] == ["b", "d", "a", "c"]


def test_statuses_of_expected_cases_add_up():
    cases = [settle(EXPECTED, Outcome(status)) for status in Status if status is not Status.NEW]
    cases.append(settle(Planned("y", Standing.UNCLAIMED), Outcome(Status.PASS)))
    summary = report(*cases).summary
    outside = {"expected", "waived", "unsupported", "new"}
    assert summary["expected"] == sum(count for key, count in summary.items() if key not in outside) == 10
    assert {status.key for status in Status} == set(summary) - {"expected", "waived"}


def test_json_is_schema_2(tmp_path):
    verdict = settle(EXPECTED, Outcome(Status.FAIL, "wrong", float("inf"), "native", ("fill",), 0.25))
    report(verdict).write_json(tmp_path / "report.json")
    table = json.loads((tmp_path / "report.json").read_text())
    assert table["schema"] == 2
    assert table["suite"] == SUITE
    assert table["provider"] == {"name": "toy", "version": "1.2"}
    assert table["device"]["name"] == "toy:0"
    (case,) = table["cases"]
    assert case == {
        "id": EXPECTED.id,
        "status": "fail",
        "reason": "wrong",
        "margin": 1e308,
        "error": None,
        "at": "",
        "bias": None,
        "variance": None,
        "bits": "",
        "attested": "native",
        "ran": [],
        "degraded": ["fill"],
        "seconds": 0.25,
        "counts": True,
        "notice": False,
        "waiver": None,
        "replay": None,
        "first": None,
    }


def test_junit_counts_failures_errors_and_skips(tmp_path):
    verdicts = [
        settle(EXPECTED, Outcome(Status.PASS)),
        settle(EXPECTED, Outcome(Status.FAIL, "bad \x00 bytes & <signs>")),
        settle(EXPECTED, Outcome(Status.CRASH, "signal 6")),
        settle(Planned("runtime/a/b", Standing.REFUSED), Outcome(Status.UNSUPPORTED, "not claimed")),
    ]
    write_junit(report(*verdicts), tmp_path / "junit.xml")
    suite = ET.parse(tmp_path / "junit.xml").getroot().find("testsuite")
    assert [suite.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "1"]
    assert suite.findall("testcase")[1].find("failure").get("message") == "bad ? bytes & <signs>"
