"""claims.toml, cell patterns and SPI versions."""

from __future__ import annotations

import pytest
from ep.layout.cells import dtypes_name, matches
from ep.plugin.claims import ClaimsError, read_claims
from ep.plugin.manifest import refuse_version


def test_patterns_stay_inside_their_part():
    assert matches("elementwise_unary/*/float64/*", "elementwise_unary/exp/float64/dense")
    assert not matches("elementwise_unary/*", "elementwise_unary/exp/float64/dense")
    assert not matches("*/*/*/*", "a/b/c")
    assert matches("cast/-/*->bool/*", "cast/-/int32->bool/rank0")


def test_dtypes_are_named_once_if_equal():
    assert dtypes_name(["float32", "float32"], "float32") == "float32"
    assert dtypes_name(["float32", "float32"], "bool") == "float32->bool"
    assert dtypes_name(["int8", "int32"], "int32") == "int8,int32->int32"
    assert dtypes_name([], "int32") == "int32"


def test_claims_cover_by_pattern_feature_and_version(tmp_path):
    file = tmp_path / "claims.toml"
    file.write_text(
        'suite = "1.0"\n[[claim]]\ncells = "copy/-/*/*"\n[[claim]]\ncells = "*/exp/float64/*"\nwhen = ["fp64"]\n'
    )
    claims = read_claims(file)
    assert claims.covers("copy/-/int32/dense", "1.0", ())
    assert not claims.covers("copy/-/int32/dense", "1.1", ())
    assert claims.is_new("1.1")
    assert claims.covers("elementwise_unary/exp/float64/dense", "1.0", {"fp64"})
    assert not claims.covers("elementwise_unary/exp/float64/dense", "1.0", ())
    assert [entry.cells for entry in claims.stale(["copy/-/int32/dense"])] == ["*/exp/float64/*"]


def test_claim_may_list_its_patterns(tmp_path):
    file = tmp_path / "claims.toml"
    file.write_text('suite = "1.0"\n[[claim]]\ncells = ["copy/-/*/*", "fill/-/float64/*"]\nwhen = ["fp64"]\n')
    claims = read_claims(file)
    assert [entry.cells for entry in claims.entries] == ["copy/-/*/*", "fill/-/float64/*"]
    assert all(entry.when == ("fp64",) for entry in claims.entries)
    assert claims.covers("fill/-/float64/empty", "1.0", {"fp64"})


def test_no_file_claims_nothing(tmp_path):
    assert read_claims(tmp_path / "claims.toml").entries == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("suite = 1.0", "needs"),
        ('suite = "-1.0"', "needs"),
        ('[[claim]]\ncells = "a/b/c/d"', "suite is None"),
        ('suite = "1.0"\n[[claim]]\ncells = "a/b/c"', "has 3 parts, needs 4"),
        ('suite = "1.0"\n[[claim]]\ncells = ["a/b/c/d", "a/b"]', "has 2 parts, needs 4"),
        ('suite = "1.0"\n[[claim]]\ncells = ["a/b/c/d", 5]', "claim 1"),
        ('suite = "1.0"\n[[claim]]\ncells = "runtime/event"', "needs 3: runtime/area/name"),
        ('suite = "1.0"\n[[claim]]\ncell = "a/b/c/d"', "claim 1"),
        ('suite = "1.0"\n[[claim]]\ncells = "a/b/c/d"\nwhen = "fp64"', "list of features"),
        ('suite = "1.0"\nclaims = []', "unknown key 'claims'"),
        ("suite =", "cannot be read"),
    ],
)
def test_wrong_claims_are_refused_with_the_cure(tmp_path, text, message):
    file = tmp_path / "claims.toml"
    file.write_text(text)
    with pytest.raises(ClaimsError, match=message):
        read_claims(file)


def test_versions_meet_within_a_major_and_exactly_while_it_is_zero():
    assert refuse_version((0, 1), (0, 1)) is None
    assert "spi 0.1" in (refuse_version((0, 2), (0, 1)) or "")
    assert "spi 0.2" in (refuse_version((0, 1), (0, 2)) or "")
    assert refuse_version((1, 0), (1, 3)) is None
    assert "newer" in (refuse_version((1, 4), (1, 3)) or "")
    assert "1.0 to 1.3" in (refuse_version((2, 0), (1, 3)) or "")
