"""The catalogue: ids are unique, readable and found again, and there are enough of them."""

import re
import subprocess
import sys

import pytest
from ep.plugin.claims import Claims
from ep_conformance.plan import survey as planning
from ep_conformance.plan.catalogue import find, list_ids, selects
from ep_conformance.plan.planned import Standing
from ep_conformance.runtime import runtime_cases

import ep

IDS = list(list_ids("standard", None))
QUICK = list(list_ids("quick", None))


def test_ids_are_unique_and_readable():
    assert len(IDS) == len(set(IDS))
    form = re.compile(r"(runtime/[a-z]+/[a-z0-9-]+|primitives/[a-z_]+/[a-z0-9_-]+/[a-z0-9_,>-]+/[a-z0-9-]+/[\w.+-]+)")
    assert [identity for identity in IDS if not form.fullmatch(identity)] == []


def test_runtime_cases_say_what_they_claim():
    cases = runtime_cases()
    assert len([case for case in cases.values() if not case.optional]) >= 40
    assert all(case.claim.endswith(".") for case in cases.values())


def test_quick_is_a_part_of_standard():
    assert set(QUICK) < set(IDS)


@pytest.mark.parametrize("identity", [IDS[0], IDS[len(IDS) // 2], IDS[-1]])
def test_an_id_finds_its_case(identity):
    assert find(identity).id == identity


@pytest.mark.parametrize(
    "identity", ["", "runtime/event", "primitives/a/b/c/d/e", "primitives/copy/-/float32/dense/no"]
)
def test_an_unknown_id_is_a_sentence(identity):
    with pytest.raises(KeyError, match="no case is called"):
        find(identity)


def test_id_without_its_first_part_is_told_where_it_belongs():
    with pytest.raises(
        KeyError, match=r"'\*copy/-/float32/dense/size-17\*'.*ids of cases of cells begin with primitives/"
    ):
        find("copy/-/float32/dense/size-17")


def test_filter_crosses_slashes():
    assert selects("runtime/*", "runtime/event/stays-done")
    assert selects("*exp*dense*", "primitives/elementwise_unary/exp/float32/dense/size-1")
    assert not selects("runtime", "runtime/event/stays-done")


def test_one_of_several_globs_is_enough():
    assert selects("primitives/copy/* runtime/*", "runtime/event/stays-done")
    assert not selects("primitives/copy/* runtime/fill/*", "runtime/event/stays-done")
    assert not selects("", "runtime/event/stays-done")


@pytest.mark.parametrize(
    "pattern",
    [
        "primitives/copy/*",
        "primitives/copy/-/float32/dense/size-17",
        "*size-17",
        "*relu/float32/*",
        "*/float32/dense/[a-r]*",
        "primitives/*/[ap]*/float32/dense/*",
        "*relu/float32/den?e",
        "primitives/c?*/-/int8/*",
        "[pr]*/*relu/float32/dense/size-1[67]",
        "*/[dft][eir][!p]*/*",
        "*/relu/[!/]*32/*",
        "runtime/*",
        "runtime/fill/* primitives/copy/-/[bf]*/size-17",
        "*relu/float32/* *copy/-/int8/dense/*",
        "",
    ],
)
def test_filter_that_skips_whole_cells_misses_no_case(pattern):
    assert [*list_ids("quick", pattern)] == [identity for identity in QUICK if selects(pattern, identity)]


def test_listing_makes_hardly_any_descriptor(monkeypatch):
    """A hundred thousand names in three seconds leave no time for what only a run needs."""
    made = 0
    freeze = ep.Descriptor._freeze

    def counted(self, *parts):
        nonlocal made
        made += 1
        freeze(self, *parts)

    monkeypatch.setattr(ep.Descriptor, "_freeze", counted)
    ids = sum(1 for _ in list_ids("standard", None))
    assert made < ids / 3


def test_case_of_a_cell_is_found_without_importing_the_cases_of_the_runtime():
    """They need hypothesis, which takes a fifth of the time in which a worker starts."""
    case = "primitives/copy/-/float32/dense/size-1"
    code = f"import sys; from ep_conformance.plan.catalogue import find; find({case!r}); print('hypothesis' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_device_that_lacks_what_a_case_needs_is_not_asked_by_older_claims_either(monkeypatch):
    def refused():
        plan = planning.survey(ep.device("cpu:0"), "quick", "runtime/*").plan
        return {planned.id for planned in plan if planned.standing is Standing.REFUSED}

    today = refused()
    monkeypatch.setattr(planning, "read_claims", lambda path: Claims("0.9", ()))
    assert refused() == today != set()
