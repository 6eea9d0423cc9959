"""The level collective: its ids, its cases on the CPU, and the option that chooses it."""

import subprocess
import sys
from pathlib import Path

import pytest
from ep_conformance.collective import collective_cases, ranks_of
from ep_conformance.commands.exits import WrongUse
from ep_conformance.commands.run import _of_ranks
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.plan.catalogue import find, list_ids
from ep_conformance.plan.planned import Standing
from ep_conformance.plan.survey import survey
from ep_conformance.run.spread import joined
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


def over_mpi(*options):
    command = [Path(sys.executable).with_name("mpiexec"), "-n", "2", sys.executable, "-m", "ep_conformance", "run"]
    return subprocess.run(
        [*command, "--ranks", "mpi", *options], capture_output=True, text=True, check=False, timeout=100
    )


def test_cases_are_judged_over_processes_of_mpi():
    done = over_mpi("--provider", "cpu", "--quick", "--shard", "1/20")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASS: cpu") == 1


def test_all_processes_of_mpi_end_with_the_exit_code_of_the_first():
    done = over_mpi("--provider", "nobody")
    assert done.returncode == 2
    assert done.stderr.count("unknown provider 'nobody'") == 1


def test_a_case_passes_where_it_does_at_every_rank():
    good, bad = Outcome(Status.PASS), Outcome(Status.FAIL, "x[0] == 1")
    assert joined([good, good]).status is Status.PASS
    assert joined([good, bad, bad]) == Outcome(Status.FAIL, "rank 1: x[0] == 1")


@pytest.mark.parametrize("ranks", ["0", "9", "many"])
def test_other_numbers_of_ranks_are_refused(ranks):
    done = subprocess.run(
        [sys.executable, "-m", "ep_conformance", "run", "--provider", "cpu", "--ranks", ranks],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip - an option a line would be long
    assert done.returncode == 2
    assert f"'{ranks}' is no number of ranks from 1 to 8, and not mpi" in done.stderr


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        (None, ["*"]),
        ("all_reduce/*", ["all_reduce/*"]),
        ("collective/3/*/max/*", ["*/max/*"]),
        ("barrier/* gather/*", ["barrier/*", "gather/*"]),
    ],
)
def test_a_filter_chooses_among_the_cases_of_so_many_ranks(pattern, parts):
    assert _of_ranks(3, pattern) == " ".join(f"collective/3/{part}" for part in parts)


def test_a_filter_of_other_ranks_is_refused():
    with pytest.raises(
        WrongUse, match=r"--ranks 3 and --filter 'collective/4/\*' contradict each other: collective/3/"
    ):
        _of_ranks(3, "collective/4/*")
