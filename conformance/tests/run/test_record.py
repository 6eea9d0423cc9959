"""A verdict as JSON: what is written is what is read."""

import datetime as dt
import json
import math
from dataclasses import fields

import pytest
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.plan.waiver import Waiver
from ep_conformance.run.record import record, verdict_of
from ep_conformance.run.verdict import First, Verdict

FULL = Verdict(
    "primitives/a/b/float32/dense/one",
    Outcome(
        Status.FLAKY,
        reason='a "reason"\nof two lines, \u00b5 and \x1b',
        margin=0.1 + 0.2,
        attested="native",
        ran=("Fast", "Plain"),
        degraded=("call", "fill"),
        seconds=0.123457,
        error=math.inf,
        at="x=1e-45",
        bias=1 / 3,
        variance=2 / 3,
        bits="equal",
    ),
    counts=True,
    notice=True,
    first=First(Status.CRASH, "signal 6 (SIGABRT)"),
    waiver=Waiver("*/one", "rounds twice", "Ada", "https://bugs.example/7", dt.date(2027, 3, 1), Status.FLAKY),
    replay="report-failures/one.json",
)


def round_trip(verdict):
    return verdict_of(json.loads(json.dumps(record(verdict), allow_nan=False)))


@pytest.mark.parametrize("verdict", [FULL, Verdict("x", Outcome(Status.PASS), counts=False)])
def test_verdict_comes_back_as_it_was(verdict):
    assert round_trip(verdict) == verdict


@pytest.mark.parametrize("status", list(Status))
def test_every_status_comes_back(status):
    assert round_trip(Verdict("x", Outcome(status), counts=True)).status is status


def test_full_verdict_differs_from_the_defaults_everywhere():
    plain = Verdict("x", Outcome(Status.PASS), counts=False)
    for one, other in ((FULL, plain), (FULL.outcome, plain.outcome)):
        same = {f.name for f in fields(one) if getattr(one, f.name) == getattr(other, f.name)}
        assert same <= {"details"}, "which is for the replay file alone"


def test_infinity_is_1e308_and_nan_counts_as_infinite():
    table = record(Verdict("x", Outcome(Status.FAIL, margin=math.inf, error=math.nan), counts=True))
    assert (table["margin"], table["error"], table["bias"]) == (1e308, 1e308, None)
    assert verdict_of(table).outcome.error == math.inf


@pytest.mark.parametrize(
    "change",
    [
        {"status": "good"},
        {"margin": "large"},
        {"id": 7},
        {"first": {"status": "pass"}},
        {"degraded": [1]},
        {"replay": 3},
        {"waiver": {"cases": "*"}},
    ],
)
def test_what_is_no_record_is_refused(change):
    with pytest.raises((KeyError, TypeError, ValueError)):
        verdict_of(record(FULL) | change)
