"""Failures in groups: what one person repairs is one thing to read."""

import samples
from ep_conformance.judge.outcome import Status
from ep_conformance.report.groups import grouped


def test_cases_of_one_op_and_status_are_one_group_worst_and_largest_first():
    def case(op, status, name):
        return samples.verdict(f"primitives/reduce/{op}/float32/dense/{name}", status, name)

    found = grouped(
        [
            case("max", Status.FLAKY, "a"),
            case("max", Status.FAIL, "b"),
            case("sum", Status.FAIL, "c"),
            case("sum", Status.FAIL, "d"),
            samples.verdict("runtime/event/order", Status.CRASH),
        ]
    )
    assert [(group.status, group.title, len(group.verdicts)) for group in found] == [
        ("fail", "reduce/sum", 2),
        ("fail", "reduce/max", 1),
        ("crash", "runtime/event", 1),
        ("flaky", "reduce/max", 1),
    ]


def test_what_an_interrupted_run_did_not_come_to_is_one_group_and_last():
    missing = [
        samples.verdict(f"primitives/reduce/op_{at}/float32/dense/a", Status.MISSING, "interrupted") for at in range(99)
    ]
    stale = samples.verdict("claims/reduce/sun/*/*", Status.MISSING, "matches nothing")
    flaky = samples.verdict("primitives/reduce/sum/float32/dense/a", Status.FLAKY)
    found = grouped([stale, *missing, flaky])
    assert [(group.status, group.title, len(group.verdicts)) for group in found] == [
        ("flaky", "reduce/sum", 1),
        ("missing", "without a verdict", 99),
        ("missing", "claims", 1),
    ]
