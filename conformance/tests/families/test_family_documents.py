"""docs/families against the families: each has a document, complete and of today; the tool says what is missing."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from ep_conformance.plan.catalogue import CellCase, find
from ep_primitives.judging.edges import edge_rules

import ep

ROOT = Path(__file__).parents[3]
TOOLS = ROOT / "tools"


def load(name):
    sys.path.insert(0, str(TOOLS))
    try:
        spec = importlib.util.spec_from_file_location(f"ep_tools_{name}", TOOLS / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(TOOLS))
    return module


@pytest.fixture(scope="module")
def tool():
    return load("family_documents")


def test_documents_are_complete_and_of_today():
    """Whoever changes a docstring, a row or the cases runs `make documents`."""
    words = [sys.executable, TOOLS / "family_documents.py", "--check"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == ""
    assert done.returncode == 0, done.stderr


def test_edge_table_has_a_line_for_every_family(tool):
    text = (ROOT / "docs/families/README.md").read_text(encoding="utf-8").partition("## Rules by family")[2]
    lines = [line.split(" | ") for line in text.splitlines() if line.startswith("| `")]
    assert [line[0].strip("|` ") for line in lines] == [*tool.documents()]
    assert all(cell.strip(" |") for line in lines for cell in line)


def test_every_edge_rule_names_quick_cases_that_are_there():
    rules = edge_rules()
    assert len(rules) > 40
    cases = [case for rule in rules for case in rule.cases]
    assert {found.case.profile if isinstance(found := find(case), CellCase) else found.profile for case in cases} == {
        "quick"
    }
    families = {case.split("/")[1] for case in cases}
    assert families > {
        "where",
        "add_n",
        "permute",
        "pad",
        "one_hot",
        "gather",
        "reduce",
        "arg_reduce",
        "softmax",
        "layer_norm",
        "top_k",
        "saturating_cast",
        "iota",
        "convolution",
        "convolution_transposed",
        "pool",
    }


def test_what_is_missing_is_listed(tool, monkeypatch, tmp_path):
    family = ep.families()["elementwise_unary"]
    document = tool.Document(family)
    document.meaning = tool.parse("Family X: y.\n\nshapes : any\nNaN    : stays")
    document.text = tool.parse("out = op(x).\n\nx : read")
    document.rows = {name: row for name, row in family.rows.items() if name != "relu"}
    found = [*document.missing()]
    assert any("no line 'infinities : ...'" in line for line in found)
    assert not any("'NaN : ...'" in line for line in found)
    assert "elementwise_unary: the docstring of ElementwiseUnary does not describe its operand out" in found
    assert "elementwise_unary: relu has no row in ElementwiseUnaryFamily.rows" in found
    few = {name: tool.Document(ep.families()[name]) for name in ("copy", "fill")}
    monkeypatch.setattr(tool, "documents", lambda: few)
    monkeypatch.setattr(tool, "FOLDER", tmp_path)
    (tmp_path / "gone.md").write_text("of no family\n")
    (tmp_path / "copy.md").write_text("old\n")
    found = [*tool.problems()]
    assert any("fill.md is missing" in line for line in found)
    assert any("copy.md is stale" in line for line in found)
    assert any("gone.md is of no family" in line for line in found)


def test_docstring_is_taken_apart(tool):
    doc = "First\nsentence.\n\na, b  : read, `x|*y`\n        twice < 3 * <em>\nprose that: goes on\n\nMore."
    text = tool.parse(doc)
    assert text.lead == "First sentence."
    assert text.rules == {"a, b": r"read, `x|*y` twice < 3 \* \<em>"}
    assert list(text.rest) == ["prose that: goes on", "More."]
    assert list(load("markdown").table(("h",), [(text.rules["a, b"],)]))[2].startswith(r"| read, `x\|*y`")


def test_element_types_are_named_by_their_groups(tool):
    from ep_primitives.elementwise.op import ALL, REALS

    assert tool.dtypes_text(ALL) == "all"
    assert tool.dtypes_text(("bool", *REALS)) == "bool, reals"
    assert tool.dtypes_text(("float32", "int8")) == "float32, int8"


def test_matrix_counts_cases_and_shows_the_worst_margin(tmp_path):
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
    words = [sys.executable, TOOLS / "family_matrix.py", tmp_path / "report.json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert "| element types | dense | strided |" in done.stdout
    assert "| float32 | 2 / 0.50 | **1 not passed** |" in done.stdout
    assert "| int8 | 1 unsupported | - |" in done.stdout
    assert "| [reduce](families/reduce.md) | 2 | 2 | 1 | 1 | 0.50: mean/float32/dense/b | 0.12 |" in done.stdout
    assert "| [copy](families/copy.md) | 1 | 1 | 0 | 0 | exact | - |" in done.stdout
    assert "Provider toy 1.2 (beads 3, threads a case: 2)" in done.stdout
    assert "4 cases expected, 3 passed; 5 cells" in done.stdout
    (tmp_path / "report.json").write_text(json.dumps({**report, "interrupted": True}))
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "was interrupted" in done.stderr
    (tmp_path / "report.json").write_text("{}")
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "ep-conformance run --json" in done.stderr


def test_matrix_has_every_place_of_every_family(tmp_path):
    """Whoever adds a family, an element type or a layout runs `make matrix`."""
    document = ROOT / "docs/matrix.md"
    check = [sys.executable, TOOLS / "family_matrix.py", "--check"]
    done = subprocess.run([*check, document], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    text = document.read_text(encoding="utf-8")
    (tmp_path / "old.md").write_text(
        text.replace("## softmax_backward", "## soft").replace("| float64 | ", "| real | ")
    )
    done = subprocess.run([*check, tmp_path / "old.md"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "softmax_backward/float32/dense is missing" in done.stdout
    assert "softmax/float64/dense is missing" in done.stdout
