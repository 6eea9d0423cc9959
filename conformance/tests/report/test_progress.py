"""What a run shows of its verdicts as they come."""

import io

from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.plan.planned import Planned, Standing
from ep_conformance.report.progress import Live
from ep_conformance.run.verdict import settle
from rich.console import Console

PASS, FAIL = Outcome(Status.PASS), Outcome(Status.FAIL, "wrong")


def shown(*outcomes):
    """Return the ids that a run shows of unclaimed cases, in order."""
    text = io.StringIO()
    with Live(Console(file=text), len(outcomes)) as live:
        for place, outcome in enumerate(outcomes):
            live.hear(settle(Planned(f"case-{place:02}", Standing.UNCLAIMED), outcome))
    return [line.split()[-1] for line in text.getvalue().splitlines() if line.startswith("notice")]


def test_notices_of_failing_cases_come_first_and_are_not_lost_among_the_others():
    assert shown(PASS, FAIL, PASS, FAIL) == ["case-01", "case-03", "case-00", "case-02"]
    many = shown(*[PASS] * 30, FAIL)
    assert many[0] == "case-30"
    assert len(many) == 11
