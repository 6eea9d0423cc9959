"""The claims that a run proposes: they match what passed and nothing else, and leave an author's file as it is."""

import json

import pytest
from ep.plugin.claims import ClaimsError, parse_claims
from ep_conformance.claims.file import covered, propose
from ep_conformance.claims.shown import Shown, claimables, patterns, shown
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.plan.catalogue import cells, list_ids
from ep_conformance.plan.planned import Planned, Standing
from ep_conformance.plan.subject import Subject
from ep_conformance.report.report import Report
from ep_conformance.run.verdict import Verdict, settle
from hypothesis import given, settings
from hypothesis import strategies as st

NAMES = [str(cell) for _, cell in cells()]
ROWS = sorted({name.rpartition("/")[0] for name in NAMES})
EMPTY = 'suite = "1.0"\n'
HAND = """\
# Acme's claims. See our wiki.
suite = "1.0"

# Copies were the first that we wrote.
[[claim]]
cells = "copy/-/*/*"

# The matrix engine has these.
[[claim]]
cells = ["matmul/-/float32/*", "matmul/-/float16/*"]
when = ["matrix"]

[[claim]]
cells = "runtime/ability/fill"
"""


def holding(*names, failing=(), features=()):
    return Shown(frozenset(names), {name: f"fail: {name}" for name in failing}, frozenset(features))


def names_of(text, features=()):
    return covered(parse_claims(text, "claims.toml"), claimables(), features)


def ids(cell):
    return [*list_ids("quick", f"primitives/{cell}/*")]


def matching(pattern):
    return names_of(f'{EMPTY}[[claim]]\ncells = "{pattern}"\n')


@settings(max_examples=15, deadline=None)
@given(rows=st.sets(st.sampled_from(ROWS)), few=st.sets(st.sampled_from(NAMES), max_size=5))
def test_claims_cover_exactly_what_passed(rows, few):
    names = {name for name in NAMES if name.rpartition("/")[0] in rows} | few
    assert names_of(propose(EMPTY, holding(*names), drop=False).text) == names


def test_everything_takes_few_lines():
    proposal = propose(EMPTY, holding(*NAMES), drop=False)
    assert names_of(proposal.text) == set(NAMES)
    assert proposal.claimed == len(NAMES)
    assert proposal.patterns < len(ROWS)


def test_types_that_need_a_feature_ask_for_it():
    text = propose(EMPTY, holding(*NAMES, features=("fp64",)), drop=False).text
    assert names_of(text, ("fp64",)) == set(NAMES)
    assert "copy/-/float64/dense" not in names_of(text)
    assert "copy/-/float32/dense" in names_of(text)


def test_conditions_that_the_author_does_without_are_not_asked_for():
    fresh = matching("where/-/*/*")
    text = propose(
        f'{EMPTY}[[claim]]\ncells = "copy/-/*/*"\n', holding(*fresh, features=("fp64", "fp16")), drop=False
    ).text
    assert fresh < names_of(text)
    assert "when" not in text


def test_what_holds_is_added_and_nothing_else_touched():
    fresh = matching("cast/-/*/*")
    proposal = propose(HAND, holding(*fresh, "runtime/ability/wait", features=("matrix",)), drop=False)
    cells, _, ability = HAND.rpartition("\n[[claim]]")
    cast, wait = ('\n[[claim]]\ncells = "cast/-/*/*"\n', '\n[[claim]]\ncells = "runtime/ability/wait"\n')
    assert proposal.text == f"{cells}{cast}\n[[claim]]{ability}{wait}"
    assert names_of(proposal.text, ("matrix",)) == names_of(HAND, ("matrix",)) | fresh | {"runtime/ability/wait"}
    assert proposal.is_settled
    again = propose(proposal.text, holding(*fresh, features=("matrix",)), drop=False)
    assert again.text == proposal.text


def test_conditions_of_the_author_are_not_widened():
    row = {name for name in NAMES if name.startswith("matmul/-/float32/")}
    text = propose(HAND, holding(*row, features=("matrix",)), drop=False).text
    assert text == HAND
    fresh = {name for name in NAMES if name.startswith("matmul/-/float64/")}
    text = propose(HAND, holding(*row, *fresh, features=("matrix",)), drop=False).text
    assert not row & names_of(text)
    assert fresh <= names_of(text)


def test_what_does_not_hold_stays_and_is_named():
    lost = "copy/-/int8/strided"
    proposal = propose(HAND, holding(failing=[lost]), drop=False)
    assert proposal.text == HAND
    assert proposal.lost == {lost: f"fail: {lost}"}
    assert not proposal.is_settled


def test_drop_takes_out_just_that_and_keeps_comments_and_conditions():
    lost = {"copy/-/int8/strided", "runtime/ability/fill", "matmul/-/float32/dense"}
    proposal = propose(HAND, holding(failing=lost, features=("matrix",)), drop=True)
    assert names_of(proposal.text, ("matrix",)) == names_of(HAND, ("matrix",)) - lost
    assert names_of(proposal.text) == names_of(HAND) - lost
    assert "# Acme's claims." in proposal.text
    assert "# Copies were the first that we wrote.\n[[claim]]" in proposal.text
    assert "# The matrix engine has these.\n[[claim]]" in proposal.text
    assert "runtime/ability/fill" not in proposal.text
    assert proposal.text.count("when =") == 1


def test_conditions_that_the_device_does_not_meet_are_not_judged():
    proposal = propose(HAND, holding(failing=["matmul/-/float32/dense"]), drop=True)
    assert proposal.text == HAND
    assert proposal.is_settled


def test_idle_claims_are_named_and_dropped():
    text = HAND.replace("runtime/ability/fill", "runtime/ability/fil")
    assert propose(text, holding(), drop=False).idle == ("runtime/ability/fil",)
    assert "runtime/ability/fil" not in propose(text, holding(), drop=True).text


def test_claims_that_are_no_tables_are_refused_where_they_would_be_edited():
    text = 'suite = "1.0"\nclaim = [{cells = "copy/-/*/*"}]\n'
    with pytest.raises(ClaimsError, match="not written as"):
        propose(text, holding(failing=["copy/-/int8/dense"]), drop=True)


def report(*verdicts, pattern=None):
    return Report(Subject("toy", "1.0", {"name": "toy:0", "features": []}), "quick", 0, verdicts, 1.0, pattern=pattern)


def verdict(identity, status, standing=Standing.EXPECTED):
    return settle(Planned(identity, standing), Outcome(status, "" if status is Status.PASS else "why"))


def test_one_case_costs_its_cell():
    dense, strided, empty = (ids(f"copy/-/float32/{layout}") for layout in ("dense", "strided", "empty"))
    found = shown(
        report(
            *[verdict(name, Status.PASS) for name in (*dense[1:], *strided, *empty[1:])],
            verdict(dense[0], Status.FLAKY),
            verdict(empty[0], Status.MISSING),
            verdict("runtime/ability/fill", Status.PASS),
            verdict("runtime/event/stays-done", Status.PASS),
        )
    )
    assert found.holding == {"copy/-/float32/strided", "runtime/ability/fill"}
    assert found.failing == {"copy/-/float32/dense": f"flaky: {dense[0]}: why"}


def test_notices_of_a_report_are_claimable_and_waived_cases_are_neither():
    given, *others = ids("copy/-/float32/dense")
    passed = [verdict(name, Status.PASS, Standing.UNCLAIMED) for name in (given, *others)]
    assert shown(report(*passed)).holding == {"copy/-/float32/dense"}
    found = shown(report(verdict(given, Status.FAIL, Standing.UNCLAIMED)))
    assert not found.holding
    assert not found.failing
    waived = Verdict(given, Outcome(Status.FAIL, "known"), counts=True, waiver=object())
    assert shown(report(waived)) == shown(report())


def test_part_of_a_cell_is_not_the_cell():
    given = [verdict(name, Status.PASS) for name in ids("copy/-/float32/dense")[1:]]
    assert shown(report(*given, pattern="*vector")).holding == frozenset()
    assert shown(report(*given)).holding == frozenset(), "as --failed leaves them"


def test_patterns_of_whole_rows_are_short():
    row = {name for name in NAMES if name.startswith("elementwise_unary/relu/float32/")}
    assert patterns(row) == ["elementwise_unary/relu/float32/*"]


RELU = "primitives/elementwise_unary/relu/float32/*"


@pytest.fixture
def claims(toy):
    """The command, on a claims.toml in the toy's source tree, which is no installed package."""

    def run(*words, **environment):
        return toy("claims", "--provider", "toy", "--profile", "quick", "--filter", RELU, *words, **environment)

    run.file = toy.packages / "ep_toy" / "claims.toml"
    run.toy = toy
    return run


def test_write_finds_the_source_tree_and_check_agrees(claims):
    before = claims.file.read_text()
    claims.toy.run("toy", "--filter", RELU)
    words = ("--from", claims.toy.report)
    done = claims("--check", *words)
    assert done.returncode == 1
    assert "elementwise_unary/relu/float32/*" in done.stdout
    done = claims("--write", "--dry-run", *words)
    assert done.returncode == 0
    assert claims.file.read_text() == before
    done = claims("--write")
    assert done.returncode == 0, done.stderr
    assert claims.file.read_text().startswith(before)
    assert '+cells = "elementwise_unary/relu/float32/*"' in done.stdout
    assert "Next: ep-conformance run --provider toy --quick" in done.stdout
    assert claims("--check", *words).returncode == 0


def test_report_takes_the_place_of_a_run_and_lost_claims_are_exit_1(claims):
    run = claims.toy.run("toy", "--filter", RELU, EP_TOY="wrong")
    assert run.returncode == 1
    words = ("--from", claims.toy.report)
    done = claims("--write", *words)
    assert done.returncode == 1
    assert "claimed, and not holding: 1" in done.stdout
    assert "relu/float32/dense/size-17" in done.stdout
    assert "elementwise_unary/relu/float32/dense" in claims.file.read_text()
    done = claims("--write", "--drop", *words)
    assert done.returncode == 0
    assert '"elementwise_unary/relu/float32/dense"' not in claims.file.read_text()
    assert claims("--check", *words).returncode == 0
    table = json.loads(claims.toy.report.read_text())
    claims.toy.report.write_text(json.dumps(table | {"provider": {"name": "cpu", "version": "1"}}))
    assert claims("--check", *words).returncode == 2


@pytest.mark.parametrize(
    "words", [(), ("--write", "--check"), ("--drop", "--check"), ("--write", "nowhere/claims.toml")]
)
def test_wrong_use_is_exit_2(claims, words):
    done = claims(*words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
