"""docs/reports/trust.md from a result of the selftest, and what is no such result."""

import json

RESULT = {
    "mutants": 5,
    "seed": 3,
    "profile": "quick",
    "killed": 2,
    "survived": 1,
    "without effect": 2,
    "scores": {
        "values": {"one": [1, 2], "pair": [1, 1]},
        "family": {"copy": [2, 3]},
        "dimension": {"tail": [2, 3]},
        "fault": {"dropped": [2, 3]},
    },
    "details": [
        {"mutant": "copy/-/int8/dense: dropped under tail.2", "word": "survived", "met": 3},
        {"mutant": "copy/-/int8/dense: dropped under tail.3", "word": "without effect", "met": 3},
        {"mutant": "copy/-/int8/dense: dropped under tail.4", "word": "killed", "met": 1},
    ],
}


def test_page_has_scores_and_names_survivors(tools, tmp_path):
    larger = RESULT | {"profile": "standard", "scores": RESULT["scores"] | {"family": {"pad": [1, 1]}}}
    larger["details"] = [RESULT["details"][0] | {"met": 0}]
    for name, result in (("quick", RESULT), ("standard", larger)):
        (tmp_path / name).write_text(json.dumps(result))
    done = tools("trust", tmp_path / "quick", tmp_path / "standard")
    assert done.code == 0
    assert "| quick | 3 | 5 | 2 | 2 | 1 |" in done.output
    assert "| one | 1 of 2, 50.0 % | 1 of 2, 50.0 % |" in done.output
    assert "| copy | 2 of 3, 66.7 % |  |" in done.output
    quick, standard = done.output.split("## Survivors of profile ")[1:]
    assert quick == "quick\n\n- `copy/-/int8/dense: dropped under tail.2`\n\n"
    assert standard == "standard\n\n- `copy/-/int8/dense: dropped under tail.2`, which no launch met\n"


def test_other_files_are_refused_by_name(tools, tmp_path):
    (tmp_path / "other.json").write_text("{}")
    done = tools("trust", tmp_path / "other.json")
    assert done.code != 0
    assert any("other.json is no result of" in line for line in done.lines)
