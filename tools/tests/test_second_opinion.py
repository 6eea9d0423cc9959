"""PyTorch's second opinion: the page is of today, and where PyTorch is installed, the differences are those it lists."""

import subprocess
import sys
from importlib.util import find_spec

import pytest
from ep_primitives import BINARY_OPS, UNARY_OPS, ep_families
from ep_tools.folders import TOOLS
from ep_tools.peers import second_opinion as tool

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed: make second-opinion")


def test_page_is_of_today(tools):
    assert tools("second-opinion", "--check") == (0, "", [])


def test_page_is_refused_when_a_reason_changes_and_written(tools, monkeypatch, tmp_path):
    monkeypatch.setattr(tool, "DISAGREEMENTS", tool.DISAGREEMENTS[1:])
    said = "Error: docs/reports/second-opinion.md is not of today; write it: python tools second-opinion --document"
    assert tools("second-opinion", "--check") == (1, "", [said])
    text, page = tool.DOCUMENT.read_text(encoding="utf-8"), tmp_path / "page.md"
    monkeypatch.setattr(tool, "DOCUMENT", page)
    assert tools("second-opinion", "--document") == (0, "", [])
    written = page.read_text(encoding="utf-8").splitlines()
    assert set(written) < set(text.splitlines())
    assert len(written) == len(text.splitlines()) - 1


def test_listed_disagreements_are_about_ops_and_stand_once():
    lines = [(op, line.kind, line.how) for line in tool.DISAGREEMENTS for op in line.ops]
    assert len(lines) == len(set(lines))
    families = {family.name: family for family in ep_families()}
    cells = {f"{cell.family}/{cell.op}".removesuffix("/-") for family in families.values() for cell in family.cells()}
    assert {op for op, _, _ in lines} <= {*UNARY_OPS, *BINARY_OPS, "cast", *cells}


def test_row_explains_where_it_differs():
    assert not UNARY_OPS["trunc"].disagreements
    assert {line.how for line in UNARY_OPS["sign"].disagreements} >= {"NaN here", "sign of zero"}
    assert all(line.reason for row in BINARY_OPS.values() for line in row.disagreements)


def test_reasons_are_reasons():
    """That EP, or a row, says so is none: standards, mathematics and other libraries' behaviour are."""
    empty = ("the row says", "EP says", "EP defines", "as above")
    assert not [line.reason for line in tool.DISAGREEMENTS for words in empty if words.lower() in line.reason.lower()]
    assert all(len(line.reason.split()) > 6 for line in tool.DISAGREEMENTS)


@needs_torch
def test_every_op_has_an_expression():
    expressions = __import__("ep_tools.peers.pytorch.expressions", fromlist=["EXPRESSIONS"]).EXPRESSIONS
    assert {*UNARY_OPS, *BINARY_OPS} <= set(expressions)


@needs_torch
def test_pytorch_differs_as_listed_and_nowhere_else():
    # A process of its own, because the kernels that PyTorch takes are chosen before it is imported.
    done = subprocess.run([sys.executable, str(TOOLS), "second-opinion"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 differences are not as listed" in done.stdout


@needs_torch
def test_difference_that_is_not_listed_is_told(monkeypatch):
    monkeypatch.setattr(tool, "listed", dict)
    (line,) = [line for line in tool.compare(["sign"]) if "NaN here" in line]
    assert line.startswith("not listed: sign float32 (nan): NaN here: here nan, there 0.0")


@needs_torch
def test_listed_difference_that_is_gone_is_told(monkeypatch):
    monkeypatch.setattr(tool, "listed", lambda: {("tanh", "float"): {"value": "a reason"}})
    assert list(tool.compare(["tanh"])) == ["no longer so: tanh float: value"]


@needs_torch
def test_cases_of_families_judge_what_pytorch_is_asked(monkeypatch):
    families = __import__("ep_tools.peers.pytorch.families", fromlist=["FAMILIES"]).FAMILIES
    right = families["softmax_backward"]
    monkeypatch.setitem(families, "softmax_backward", lambda descriptor, dy, y: right(descriptor, y, dy))
    lines = list(tool.compare(["softmax_backward"]))
    assert any(
        line.startswith("not listed: softmax_backward float32 ('dense/") and ": value: " in line for line in lines
    )


@needs_torch
def test_every_family_but_those_of_ops_casts_and_products_has_an_expression():
    families = __import__("ep_tools.peers.pytorch.families", fromlist=["FAMILIES"]).FAMILIES
    others = {
        "elementwise_unary",
        "broadcast_binary",
        "cast",
        "saturating_cast",
        "copy",
        "fill",
        "iota",
        "matmul",
        "random_fill",
    }
    assert {family.name for family in ep_families()} == others | set(families)
