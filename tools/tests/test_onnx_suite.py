"""docs/reports/onnx.md from ONNX's own tests; frameworks/onnx/tests/test_nodes.py holds the committed page to them."""

from dataclasses import replace

import numpy as np
import onnx
from ep_tools.onnx_suite.cases import Case, cases
from ep_tools.onnx_suite.page import page
from ep_tools.onnx_suite.trial import Verdict, run
from onnx import helper

import ep


def test_page_of_one_kind_counts_its_tests_by_device(tools):
    done = tools("onnx", "cpu:0", "--kind", "simple")
    count = len([*cases(["simple"])])
    assert done.code == 0
    assert done.lines[-1].startswith("cpu:0: ")
    assert done.lines[-1].endswith(f" of {count} pass")
    assert f"What ONNX's own tests (onnx {onnx.__version__}) find" in done.output
    (row,) = [line for line in done.output.splitlines() if line.startswith("| simple models | ")]
    assert f" of {count} (" in row


def test_single_tests_say_why_they_do_not_pass(tools):
    done = tools("onnx", "cpu:0", "--kind", "simple", "--only", "sequence_model1")
    assert (done.code, done.output, done.lines) == (0, "", ["cpu:0: 1 of 1 pass"])


def case(name, op):
    graph = helper.make_graph([helper.make_node(op, [], ["y"])], name, [], [])
    return Case(name, "node", helper.make_model(graph), [], 0.0, 0.0)


def test_page_gathers_what_does_not_pass_by_its_reason():
    abs_, relu, elu = (case(f"test_{op.lower()}", op) for op in ("Abs", "Relu", "Elu"))
    found = {
        "a:0": {abs_: Verdict(None), relu: Verdict(None, is_on_host=True), elu: Verdict("other values: 1 of 2")},
        "b:0": {abs_: Verdict("lacks abs"), relu: Verdict("lacks abs"), elu: Verdict(None)},
    }
    lines = page(found).splitlines()
    assert "| node tests | 2 of 3 (67%), 1 on the host | 1 of 3 (33%), 0 on the host |" in lines
    assert "| Abs | 1 of 1 | 0 of 1 |" in lines
    assert "| other values: 1 of 2 | 1 | elu |" in lines
    assert "| lacks abs | 2 | abs, relu |" in lines


def test_what_a_session_refuses_is_the_reason_of_its_test():
    number = np.ones((), np.float32)
    reason = run(replace(case("test_unknown", "NoSuchOperation"), sets=[([], [number])]), ep.device("cpu:0")).reason
    assert reason is not None
    assert "NoSuchOperation" in reason
