"""The patterns of claims: exactly the cells that are wanted, in as few lines as a person needs."""

import pytest
from ep.layout.cells import matches
from ep.plugin.claims import read_claims
from ep_conformance.claims.cover import cover
from ep_conformance.claims.file import covered
from ep_conformance.claims.shown import claim_tables, claimables, claims_of, patterns
from ep_conformance.plan.catalogue import cells
from hypothesis import given, settings
from hypothesis import strategies as st

import ep

SMALL = [
    f"family/{op}/{dtypes}/{layout}"
    for op in ("one", "two", "three")
    for dtypes in (
        "bool",
        "float32",
        "float64",
        "float32->bool",
        "float64->bool",
        "float64->float32",
        "complex64->float32",
    )
    for layout in ("dense", "strided")
]
NAMES = [str(cell) for _, cell in cells()]


def expanded(found, known):
    return {name for name in known if any(matches(pattern, name) for pattern in found)}


@settings(max_examples=100, deadline=None)
@given(st.sets(st.sampled_from(SMALL), min_size=1))
def test_patterns_match_what_is_wanted_and_nothing_else(wanted):
    found = cover(wanted, SMALL)
    assert expanded(found, SMALL) == wanted
    for pattern in found:
        rest = [other for other in found if other != pattern]
        assert expanded(rest, SMALL) != wanted, f"{pattern} adds nothing"


@pytest.mark.parametrize(
    ("written", "needed"),
    [
        (["family/*/*/*"], ["family/*/*/*"]),
        (["family/two/*/*"], ["family/two/*/*"]),
        (["family/*/float64*/*"], ["family/*/float64*/*"]),
        (["family/*/*->bool/*"], ["family/*/*->bool/*"]),
        (["family/one/float32/*"], ["family/one/float32/*"]),
        (["family/*/*/dense", "family/one/bool/*"], ["family/*/*/dense", "family/one/bool/*"]),
    ],
)
def test_patterns_are_what_a_person_writes(written, needed):
    assert cover(expanded(written, SMALL), SMALL) == needed


def test_part_that_has_one_value_is_spelled_out():
    known = ["copy/-/float32/dense", "copy/-/float32/strided"]
    assert cover(known, known) == ["copy/-/float32/*"]


@pytest.mark.parametrize("provider", ["cpu", "sim"])
def test_providers_of_all_are_claimed_in_no_more_patterns_than_by_hand(provider):
    hand = read_claims(ep.providers()[provider].manifest.claims)
    wanted = covered(hand, claimables(), ())
    found = patterns(wanted)
    assert expanded(found, claimables()) == wanted
    assert len(found) <= len({claim.cells for claim in hand.entries})


def test_every_other_row_of_a_family_is_covered_exactly():
    known = [name for name in NAMES if name.startswith("reduce/")]
    rows = sorted({name.rpartition("/")[0] for name in known})[::2]
    wanted = {name for name in known if name.rpartition("/")[0] in rows}
    found = patterns(wanted)
    assert expanded(found, known) == wanted
    assert len(found) <= len(rows)


def test_type_that_needs_a_feature_is_told_from_one_whose_name_holds_its_name():
    claims = claims_of({"copy/-/bfloat16/dense", "copy/-/float16/dense"}, {"fp16"})
    assert {claim.cells: claim.when for claim in claims} == {
        "copy/-/bfloat16/dense": (),
        "copy/-/float16/dense": ("fp16",),
    }
    assert claim_tables(claims).count("when") == 1
