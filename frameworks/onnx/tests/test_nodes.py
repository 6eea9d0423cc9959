"""A sample of ONNX's own tests: tests that pass in docs/reports/onnx.md pass, and tests that have a reason there do not."""

import re
from pathlib import Path

import pytest
from ep_tools.onnx_suite.cases import cases
from ep_tools.onnx_suite.trial import run

import ep

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reports" / "onnx.md"
STEP = {"cpu:0": 5, "sim:0": 29}
LEAST = 0.79


@pytest.fixture(scope="module")
def node_cases():
    return list(cases(["node"]))


def excluded(device):
    """Return the names that the page says do not pass on a device."""
    (part,) = re.findall(rf"^### {device}\n\n(.*?)(?=^### |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    rows = [line.split(" | ") for line in part.splitlines() if line.startswith("| ")][1:]
    return {f"test_{name}" for row in rows for name in row[-1].rstrip(" |").split(", ")}


@pytest.mark.parametrize("device", STEP)
def test_page_tells_the_truth(node_cases, device):
    known, first = excluded(device), {case.op: case for case in reversed(node_cases)}
    sample = {
        case.name: case for case in [*node_cases[:: STEP[device]], *(first.values() if device == "cpu:0" else ())]
    }
    on = ep.device(device)
    verdicts = {name: run(case, on).reason for name, case in sample.items()}
    assert {name: reason for name, reason in verdicts.items() if reason is not None and name not in known} == {}
    assert [name for name, reason in verdicts.items() if reason is None and name in known] == []
    assert sum(reason is None for reason in verdicts.values()) >= LEAST * len(verdicts)


def test_page_names_every_exclusion_once_with_its_reason(node_cases):
    names = {case.name for case in node_cases}
    for device in STEP:
        of_nodes = excluded(device) & names
        assert len(of_nodes) <= (1 - LEAST) * len(names)


def test_a_light_model_gives_what_onnx_says():
    (case,) = [case for case in cases(["real"]) if case.name == "test_squeezenet"]
    assert run(case, ep.device("cpu:0")).reason is None
