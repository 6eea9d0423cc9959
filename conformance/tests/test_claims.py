"""The claims that a run proposes: they match what passed, and nothing else that the suite has."""

import pytest
from ep.claims import read_claims
from ep_conformance.catalogue import cells
from ep_conformance.claims import claims_text, passed_cells
from ep_conformance.verdict import Outcome, Status
from hypothesis import given, settings
from hypothesis import strategies as st

NAMES = [str(cell) for _, cell in cells()]
ROWS = sorted({name.rpartition("/")[0] for name in NAMES})


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("claims") / "claims.toml"


def covered(file, names, features=()):
    file.write_text(claims_text(sorted(names), features))
    claims = read_claims(file)
    return {name for name in NAMES if claims.covers(name, "1.0", features)}


@settings(max_examples=25, deadline=None)
@given(rows=st.sets(st.sampled_from(ROWS)), few=st.sets(st.sampled_from(NAMES), max_size=5))
def test_claims_cover_exactly_what_passed(file, rows, few):
    names = {name for name in NAMES if name.rpartition("/")[0] in rows} | few
    assert covered(file, names) == names


def test_everything_takes_few_lines(file):
    assert covered(file, NAMES) == set(NAMES)
    assert len(file.read_text().splitlines()) < len(ROWS)


def test_types_that_need_a_feature_ask_for_it(file):
    assert covered(file, NAMES, ("fp64",)) == set(NAMES)
    claims = read_claims(file)
    assert not claims.covers("copy/-/float64/dense", "1.0", ())
    assert claims.covers("copy/-/float32/dense", "1.0", ())


def test_one_failing_case_costs_its_cell():
    prefix = "primitives/copy/-/float32"
    outcomes = [
        (f"{prefix}/dense/one", Outcome(Status.PASS)),
        (f"{prefix}/dense/two", Outcome(Status.FLAKY)),
        (f"{prefix}/strided/one", Outcome(Status.PASS)),
        ("runtime/ability/fill", Outcome(Status.PASS)),
    ]
    assert passed_cells(outcomes) == ["copy/-/float32/strided", "runtime/ability/fill"]
