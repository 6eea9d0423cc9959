"""docs/reports/accuracy.md from reports of the suite: the worst error of each row, of those cases that know the truth best."""

import json

import pytest


def case(place, margin=0.25, error=0.5, at="x = 1", status="pass"):
    return {"id": f"primitives/{place}", "status": status, "margin": margin, "error": error, "at": at}


def written(path, cases, model="abacus"):
    about = {"provider": {"name": "toy", "version": "1.2"}, "device": {"model": model}, "suite": "1.0"}
    path.write_text(json.dumps({**about, "cases": cases}))
    return path


@pytest.fixture
def reports(tmp_path):
    cases = [
        case("elementwise_unary/exp/float64/dense/table", 0.3, 0.31, "x = 2"),
        case("elementwise_unary/exp/float64/dense/designed", 0.9, 0.99),
        case("elementwise_unary/sin/float32/dense/designed", 0.1, 0.11),
        case("elementwise_unary/exp/bfloat16/dense/all", status="unsupported"),
        case("reduce/sum/float32/dense/a", 0.9, 0.9),
        {"id": "runtime/copy/x", "status": "pass"},
    ]
    swept = [case(f"elementwise_unary/exp/float32/dense/every-float32-{part}", 0.2, 0.8, "x = 3") for part in range(64)]
    return [written(tmp_path / "standard.json", cases), written(tmp_path / "every.json", swept)]


def test_each_cell_is_the_worst_of_the_cases_that_know_best(tools, reports):
    done = tools("accuracy", *reports)
    assert (done.code, done.lines) == (0, [])
    assert "Measured on abacus by provider toy 1.2, suite 1.0." in done.output
    (row,) = [line.split(" | ") for line in done.output.splitlines() if line.startswith("| exp |")]
    assert row[3].startswith("0.80 / ")
    assert row[4].startswith("0.31 / ")
    assert row[2].startswith("? / ")
    assert row[7] == "x = 3"
    assert "float32, unary: all 2^32 inputs (of " in done.output
    assert " exp," not in done.output.partition("(of ")[2].partition(" designed")[0]


def test_rows_of_the_committed_page_are_those_of_today(tools, reports):
    """Whoever adds a floating row runs `make accuracy`."""
    from ep_tools.folders import ROOT

    def rows(text):
        return [line.split(" | ")[0] for line in text.splitlines() if line.startswith("| ")]

    assert rows(tools("accuracy", *reports).output) == rows(
        (ROOT / "docs/reports/accuracy.md").read_text(encoding="utf-8")
    )


@pytest.mark.parametrize(
    ("cases", "model", "said"),
    [
        ([case("elementwise_unary/exp/float32/dense/table", status="fail")], "abacus", "did not pass (fail)"),
        ([], "other", "give reports of one provider and device"),
    ],
)
def test_report_that_does_not_fit_is_told(tools, reports, tmp_path, cases, model, said):
    done = tools("accuracy", *reports, written(tmp_path / "more.json", cases, model))
    assert (done.code, done.output, len(done.lines)) == (1, "", 1)
    assert said in done.lines[0]
    assert "more.json" in done.lines[0]


@pytest.mark.parametrize("text", ["{}", "not JSON", "[1]"])
def test_file_that_is_no_report_is_told(tools, tmp_path, text):
    (tmp_path / "report.json").write_text(text)
    done = tools("accuracy", tmp_path / "report.json")
    assert (done.code, done.output, len(done.lines)) == (1, "", 1)
    assert "ep-conformance run --json" in done.lines[0]
