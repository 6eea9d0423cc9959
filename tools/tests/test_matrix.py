"""docs/reports/matrix.md from a report of the suite, and against the families: it has every place of each."""

import json

import pytest
from ep_tools.folders import ROOT


def test_matrix_counts_cases_and_shows_the_worst_margin(tools, tmp_path):
    def case(place, status, margin=None, bias=None):
        return {"id": f"primitives/{place}", "status": status, "margin": margin, "bias": bias}

    cases = [
        case("reduce/sum/float32/dense/a", "pass", 0.25, 0.125),
        case("reduce/mean/float32/dense/b", "pass", 0.5),
        case("reduce/sum/float32/strided/a", "fail", 1e308),
        case("reduce/sum/int8/dense/a", "unsupported"),
        case("copy/-/int8/empty/a", "pass"),
        {"id": "runtime/copy/x", "status": "pass", "margin": None},
    ]
    report = {
        "provider": {"name": "toy", "version": "1.2"},
        "device": {"model": "abacus", "driver": "beads 3", "compute_units": 2},
        "interrupted": False,
        "summary": {"expected": 4, "pass": 3},
        "suite": "1.0",
        "profile": "quick",
        "seed": 7,
        "cases": cases,
    }
    (tmp_path / "report.json").write_text(json.dumps(report))
    done = tools("matrix", tmp_path / "report.json")
    assert (done.code, done.lines) == (0, [])
    assert "| element types | dense | strided |" in done.output
    assert "| float32 | 2 / 0.50 | **1 not passed** |" in done.output
    assert "| int8 | 1 unsupported | - |" in done.output
    assert "| [reduce](../families/reduce.md) | 2 | 2 | 1 | 1 | 0.50: mean/float32/dense/b | 0.12 |" in done.output
    assert "| [copy](../families/copy.md) | 1 | 1 | 0 | 0 | exact | - |" in done.output
    assert "Provider toy 1.2 (beads 3, threads a case: 2)" in done.output
    assert "4 cases expected, 3 passed; 5 cells" in done.output
    (tmp_path / "report.json").write_text(json.dumps({**report, "interrupted": True}))
    done = tools("matrix", tmp_path / "report.json")
    assert (done.code, done.output, len(done.lines)) == (1, "", 1)
    assert "was interrupted" in done.lines[0]


@pytest.mark.parametrize("text", ["{}", "not JSON", "[1]"])
def test_file_that_is_no_report_is_told(tools, tmp_path, text):
    (tmp_path / "report.json").write_text(text)
    done = tools("matrix", tmp_path / "report.json")
    assert (done.code, done.output, len(done.lines)) == (1, "", 1)
    assert "ep-conformance run --json" in done.lines[0]


def test_matrix_has_every_place_of_every_family(tools, tmp_path):
    """Whoever adds a family, an element type or a layout runs `make matrix`."""
    document = ROOT / "docs/reports/matrix.md"
    assert tools("matrix", "--check", document) == (0, "", [])
    text = document.read_text(encoding="utf-8")
    (tmp_path / "old.md").write_text(
        text.replace("## softmax_backward", "## soft").replace("| float64 | ", "| real | ")
    )
    done = tools("matrix", "--check", tmp_path / "old.md")
    assert done.code == 1
    assert "softmax_backward/float32/dense is missing; run `make matrix`" in done.lines
    assert "softmax/float64/dense is missing; run `make matrix`" in done.lines
