"""docs/trust.md from a result of the selftest, and what is no such result."""

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
        {"mutant": "copy/-/int8/dense: dropped under tail.2", "word": "survived", "killer": ""},
        {"mutant": "copy/-/int8/dense: dropped under tail.3", "word": "without effect", "killer": ""},
        {"mutant": "copy/-/int8/dense: dropped under tail.4", "word": "killed", "killer": "primitives/copy/x"},
    ],
}


def test_page_has_scores_and_names_survivors(tools, tmp_path):
    (tmp_path / "mutants.json").write_text(json.dumps(RESULT))
    done = tools("trust", tmp_path / "mutants.json")
    assert done.code == 0
    assert "Profile quick, seed 3: 5 mutants, 3 of them changed a result, 2 of these died." in done.output
    assert "| one | 1 | 2 | 50.0 % |" in done.output
    assert "| copy | 2 | 3 | 66.7 % |" in done.output
    assert done.output.endswith("## Survivors\n\n- `copy/-/int8/dense: dropped under tail.2`\n")


def test_other_files_are_refused_by_name(tools, tmp_path):
    (tmp_path / "other.json").write_text("{}")
    done = tools("trust", tmp_path / "other.json")
    assert done.code != 0
    assert any("other.json is no result of" in line for line in done.lines)
