"""Who did it: a case that spoils its process for others is told from those that it spoils."""

import pytest
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.plan.planned import Planned, Standing
from ep_conformance.run.tries import Tries
from ep_conformance.run.victim import Search

RELU = "primitives/elementwise_unary/relu/float32/dense/*"
CASE = "primitives/elementwise_unary/relu/float32/dense/size-"
CULPRIT = f"{CASE}17"

PASS = Outcome(Status.PASS)
FAIL = Outcome(Status.FAIL, "wrong")


def cases(done):
    return {case["id"]: case for case in done.json["cases"]}


def test_case_that_leaves_the_device_unusable_has_lost_it_and_nobody_else_pays(toy):
    done = toy.run("toy", "--filter", RELU, "--jobs", 1, EP_TOY="poisons")
    found = cases(done)
    culprit = found.pop(CULPRIT)
    assert culprit["status"] == "device-lost"
    assert culprit["reason"].startswith("left the device unusable: OSError: the bus does not answer")
    assert "the case itself: ZeroDivisionError" in culprit["reason"]
    assert {case["status"] for case in found.values()} == {"pass"}
    assert done.returncode == 1


def test_victims_fail_and_name_their_culprit(toy):
    done = toy.run("toy", "--filter", f"{CASE}*", "--jobs", 1, EP_TOY="spoils")
    found = cases(done)
    assert found[CULPRIT]["status"] == found[f"{CASE}1"]["status"] == "pass"
    for size in (257, 65537):
        victim = found[f"{CASE}{size}"]
        assert victim["status"] == victim["first"]["status"] == "fail"
        assert victim["reason"].startswith(f"fails after {CULPRIT}, and passes alone: relu(x[")
    assert done.json["summary"]["fail"] == 2


def spoiling(*culprits, victim="v"):
    """What a victim shows behind others: it fails if all culprits are among them."""
    return lambda behind: FAIL if set(culprits) <= set(behind) else PASS


def narrowed(search, shows):
    steps = 0
    while behind := search.next():
        steps += 1
        search.hear(shows(behind))
    return search.found, steps


@pytest.mark.parametrize("place", [0, 1, 17, 30, 31])
def test_search_finds_the_one_culprit_in_few_steps(place):
    before = [f"c{number}" for number in range(32)]
    (found, outcome), steps = narrowed(Search(before, ()), spoiling(f"c{place}"))
    assert found == (f"c{place}",)
    assert outcome is FAIL
    assert steps <= 1 + 2 * 5


def test_search_tries_known_culprits_first():
    before = [f"c{number}" for number in range(32)]
    (found, _), steps = narrowed(Search(before, {"c3", "elsewhere"}), spoiling("c3"))
    assert (found, steps) == (("c3",), 1)
    (found, _), _ = narrowed(Search(before, {"c3"}), spoiling("c9"))
    assert found == ("c9",)


def test_search_keeps_those_that_do_it_together():
    before = [f"c{number}" for number in range(8)]
    (found, _), _ = narrowed(Search(before, ()), spoiling("c1", "c6"))
    assert found == tuple(before)


def test_search_finds_nothing_where_nothing_is_reproduced():
    assert narrowed(Search(["a", "b"], ()), spoiling("elsewhere")) == (None, 1)
    assert narrowed(Search(["a", "b"], ()), lambda _: Outcome(Status.MISSING)) == (None, 1)


class Bench:
    """Plays the worker: runs what is asked for, each batch in a process of its own."""

    def __init__(self, plan, shows):
        self.settled = {}
        self.batches = []
        self.shows = shows
        self.tries = Tries({identity: Planned(identity, Standing.EXPECTED) for identity in plan}, self.keep)

    def keep(self, verdict):
        assert verdict.id not in self.settled, "settled twice"
        self.settled[verdict.id] = verdict

    def run(self, ids):
        """Run cases in one process, and then all that follows from them."""
        todo = [self.tries.hear(identity, self.shows(ids[:at]), ids[: at + 1]) for at, identity in enumerate(ids)]
        while todo:
            batch = todo.pop(0)
            if batch is None:
                continue
            if not batch.is_search and any(other is not None and other.is_search for other in todo):
                todo.append(batch)
                continue
            self.batches.append(batch)
            ids = batch.ids
            for at, identity in enumerate(ids):
                if not batch.is_search or at == len(ids) - 1:
                    todo.append(self.tries.hear(identity, self.shows(ids[:at]), ids[: at + 1]))


def test_every_case_is_settled_once_and_second_victims_cost_one_process_each():
    plan = [f"c{number}" for number in range(16)]
    bench = Bench(plan, spoiling("c4"))
    bench.run(plan)
    assert set(bench.settled) == set(plan)
    failed = [identity for identity, verdict in bench.settled.items() if verdict.status is Status.FAIL]
    assert sorted(failed) == sorted(plan[5:])
    assert all(
        verdict.outcome.reason.startswith("fails after c4,") for verdict in bench.settled.values() if verdict.is_failure
    )
    searches = [batch for batch in bench.batches if batch.is_search]
    assert [batch.ids for batch in searches if len(batch.ids) == 2][-10:] == [("c4", victim) for victim in plan[6:]]


def test_cases_that_fail_anywhere_stop_costing_processes():
    plan = [f"c{number}" for number in range(50)]
    bench = Bench(plan, lambda _: FAIL)
    bench.run(plan)
    assert {verdict.status for verdict in bench.settled.values()} == {Status.FAIL}
    assert sum(batch.is_fresh for batch in bench.batches) == 8
    assert not any(batch.is_search for batch in bench.batches)


def test_victims_without_number_end_as_flaky_when_the_means_are_spent():
    plan = [f"c{number}" for number in range(400)]
    bench = Bench(plan, lambda behind: FAIL if len(behind) > 40 else PASS)
    bench.run(plan)
    assert set(bench.settled) == set(plan)
    assert {bench.settled[identity].status for identity in plan[41:]} == {Status.FLAKY}
    assert sum(batch.is_search for batch in bench.batches) <= 64


def test_lack_of_memory_is_not_tried_again():
    bench = Bench(["a"], lambda _: Outcome(Status.MISSING, "needs 9 bytes"))
    bench.run(["a"])
    assert bench.settled["a"].outcome.reason == "needs 9 bytes"
    assert bench.batches == []
