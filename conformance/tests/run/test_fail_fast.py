"""`--fail-fast` ends a run at its first failure, and what did not run can be continued; `--no-replays` writes no files."""

import json

import pytest
from ep_conformance.run.verdict import FIRST_FAILURE

CELLS = "primitives/elementwise_unary/relu/float32/*"
CULPRIT = "primitives/elementwise_unary/relu/float32/dense/size-17"
CLAIMED = ("--filter", CELLS, "--claim", "elementwise_unary/relu/float32/*", "--jobs", 1)


def cases(done):
    return {case["id"]: case for case in done.json["cases"]}


def test_first_failure_ends_the_run_and_resume_runs_the_rest(toy):
    done = toy.run("toy", *CLAIMED, "--fail-fast", EP_TOY="wrong")
    found = cases(done)
    assert (done.returncode, done.json["exit_code"], done.json["interrupted"]) == (1, 1, True)
    assert found[CULPRIT]["status"] == found[CULPRIT]["first"]["status"] == "fail"
    assert (toy.folder / found[CULPRIT]["replay"]).exists()
    left = {identity for identity, case in found.items() if case["status"] == "missing"}
    assert {found[identity]["reason"] for identity in left} == {FIRST_FAILURE}
    assert {case["status"] for identity, case in found.items() if identity not in left} == {"pass", "fail"}
    assert done.stdout.splitlines()[-1].startswith(
        "FAIL: toy 1.0 on toy:0: ended by --fail-fast at its first failure: "
    )
    assert "the same command with --resume" in done.stdout
    earlier = toy.folder / "earlier.json"
    earlier.write_text(json.dumps(done.json))
    rest = toy.run("toy", *CLAIMED, "--fail-fast", "--resume", earlier)
    assert left
    assert {cases(rest)[identity]["status"] for identity in left} == {"pass"}
    assert cases(rest)[CULPRIT]["status"] == "fail", "a verdict that is taken over ends nothing"
    assert (rest.returncode, rest.json["interrupted"]) == (1, False)


def test_failure_of_the_last_case_cuts_nothing_short(toy):
    done = toy.run("toy", "--filter", CULPRIT, "--fail-fast", "--no-replays", EP_TOY="wrong")
    assert (done.returncode, done.json["interrupted"]) == (1, False)
    assert done.stdout.splitlines()[-1].startswith("FAIL (1 fail)")
    assert cases(done)[CULPRIT]["replay"] is None
    assert not (toy.folder / "report-failures").exists()


def test_what_a_cut_run_did_not_try_did_not_fail(toy):
    toy("run", "--provider", "toy", "--quick", *CLAIMED, "--fail-fast", EP_TOY="wrong")
    again = toy.run("toy", "--failed", *CLAIMED)
    assert [*cases(again)] == [CULPRIT]


@pytest.mark.parametrize("words", [("--no-replays", "--replays", "folder")])
def test_replays_and_none_of_them_are_wrong_use(toy, words):
    done = toy("run", "--provider", "toy", *words)
    assert done.returncode == 2
    assert "--no-replays and --replays folder contradict each other" in done.stderr
