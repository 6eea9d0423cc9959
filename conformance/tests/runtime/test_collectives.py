"""The level collective: its ids, its cases on the CPU, and the option that chooses it."""

import pytest
from ep_conformance.collective import collective_cases, ranks_of
from ep_conformance.judge.outcome import Status
from ep_conformance.plan.catalogue import find, list_ids
from ep_conformance.plan.planned import Standing
from ep_conformance.plan.survey import survey
from ep_conformance.run.worker import Job, execute

import ep


@pytest.mark.parametrize(
    ("pattern", "ranks"),
    [("collective/4/*", 4), ("collective/8/order/x", 8), ("collective/9/*", 0), ("collective/*", 0), ("runtime/*", 0)],
)
def test_ids_say_how_many_ranks(pattern, ranks):
    assert ranks_of(pattern) == ranks


def test_the_level_is_planned_where_it_is_asked_for_alone():
    device = ep.device("cpu:0")
    plan = survey(device, "quick", "collective/3/*").plan
    assert [planned.id for planned in plan] == [*collective_cases(3)] == [*list_ids("quick", "collective/3/*")]
    assert {planned.standing for planned in plan} == {Standing.EXPECTED}
    assert not [*list_ids("quick", "*/order/*")]  # of no number of ranks
    assert len(collective_cases(1)) < len(collective_cases(3))  # one rank fails in fewer ways


@pytest.mark.parametrize("what", ["all_reduce/mean/bfloat16", "rooted_gather/-/complex128", "failure/", "program/"])
def test_cases_pass_on_the_cpu(what, tmp_path):
    device = ep.device("cpu:0")
    job = Job(device.name, "quick", None, 0, None, tmp_path)
    chosen = [identity for identity in collective_cases(3) if what in identity]
    assert chosen
    for identity in chosen:
        outcome = execute(device, identity, job)
        assert (identity, outcome.status, outcome.reason) == (identity, Status.PASS, "")
        assert find(identity).claim
