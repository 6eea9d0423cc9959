"""docs/families against the families: each has a document, complete and of today; the tool says what is missing."""

from ep_conformance.plan.catalogue import CellCase, find
from ep_primitives.elementwise.op import ALL, REALS
from ep_primitives.judging.edges import edge_rules
from ep_tools.documents import families as tool
from ep_tools.documents.rows import dtypes_text
from ep_tools.folders import ROOT
from ep_tools.markdown import parse, table

import ep


def test_documents_are_complete_and_of_today(tools):
    """Whoever changes a docstring, a row or the cases runs `make documents`."""
    done = tools("families", "--check")
    assert (done.code, done.output, done.lines) == (0, "", [])


def test_edge_table_has_a_line_for_every_family():
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


def test_what_is_missing_is_listed(tools, monkeypatch, tmp_path):
    family = ep.families()["elementwise_unary"]
    document = tool.Document(family)
    document.meaning = parse("Family X: y.\n\nshapes : any\nNaN    : stays")
    document.text = parse("out = op(x).\n\nx : read")
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
    done = tools("families", "--check")
    assert (done.code, done.output) == (1, "")
    assert "docs/families/README.md is missing; `make documents` writes it" in done.lines
    assert "docs/families/fill.md is missing; `make documents` writes it" in done.lines
    assert "docs/families/copy.md is stale; `make documents` writes it anew" in done.lines
    assert "docs/families/gone.md is of no family; remove it" in done.lines
    assert tools("families").code == 0
    assert (tmp_path / "copy.md").read_text(encoding="utf-8").startswith("# Copy\n\nFamily `copy`: ")
    assert tools("families", "--check").lines == ["docs/families/gone.md is of no family; remove it"]


def test_docstring_is_taken_apart():
    doc = "First\nsentence.\n\na, b  : read, `x|*y`\n        twice < 3 * <em>\nprose that: goes on\n\nMore."
    text = parse(doc)
    assert text.lead == "First sentence."
    assert text.rules == {"a, b": r"read, `x|*y` twice < 3 \* \<em>"}
    assert list(text.rest) == ["prose that: goes on", "More."]
    assert list(table(("h",), [(text.rules["a, b"],)]))[2].startswith(r"| read, `x\|*y`")


def test_element_types_are_named_by_their_groups():
    assert dtypes_text(ALL) == "all"
    assert dtypes_text(("bool", *REALS)) == "bool, reals"
    assert dtypes_text(("float32", "int8")) == "float32, int8"
