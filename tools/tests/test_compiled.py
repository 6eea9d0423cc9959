"""`python tools cuda-programs`: what it compiles, records and says."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import ep_simt
import pytest
from ep_primitives import ElementwiseUnary
from ep_tools.compiled import check, command, record

import ep


@pytest.fixture
def few(monkeypatch, tmp_path):
    """Let there be two ops, and a record elsewhere; return what is compiled."""
    keys = [ElementwiseUnary.infer(op, ep.TensorSpec("float32", (8,))).key for op in ("abs", "negative")]
    programs = [ep_simt.bodies()["elementwise_unary"].program(key, ep_simt.GPU) for key in keys]
    compiled = []

    class Pool(ThreadPoolExecutor):
        def __init__(self, jobs, *_):
            super().__init__(jobs)

        def map(self, function, group):
            compiled.extend(program.name for program in group)
            return super().map(function, group)

    monkeypatch.setattr(command, "programs", lambda: programs)
    monkeypatch.setattr(command, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(record, "FILE", tmp_path / "programs.txt")
    return compiled


def test_what_changed_is_compiled_once_and_recorded(tools, few):
    assert tools("cuda-programs", "--check").code == 1
    done = tools("cuda-programs")
    assert done.code == 0, done.lines
    assert "elementwise_unary_abs: 1 programs, 0 faults" in done.output
    assert [name.split("-")[0] for name in few] == ["elementwise_unary_abs", "elementwise_unary_negative"]
    assert record.read().keys() == {"elementwise_unary_abs", "elementwise_unary_negative"}
    assert tools("cuda-programs", "--check").code == 0
    assert tools("cuda-programs").output == ""
    record.FILE.write_text(record.FILE.read_text().replace("elementwise_unary_abs ", "elementwise_unary_old "))
    assert "elementwise_unary_abs" in tools("cuda-programs", "--check").lines[0]
    assert tools("cuda-programs").output == "elementwise_unary_abs: 1 programs, 0 faults\n"
    assert record.read().keys() == {"elementwise_unary_abs", "elementwise_unary_negative"}


def test_program_with_a_fault_is_not_recorded(tools, few, monkeypatch):
    monkeypatch.setattr(check, "searched", lambda program, _: ["a fault"] if "abs" in program.name else [])
    done = tools("cuda-programs")
    assert done.code == 1
    assert any("elementwise_unary_abs" in line and "a fault" in line for line in done.lines)
    assert record.read().keys() == {"elementwise_unary_negative"}


def test_another_release_of_nvrtc_compiles_what_changed_and_is_named_there(tools, few, monkeypatch):
    tools("cuda-programs")
    version = command.nvrtc().version
    assert {row.version for row in record.read().values()} == {version}
    text = record.FILE.read_text().replace(version, "12.0")
    record.FILE.write_text(text.replace("elementwise_unary_abs ", "elementwise_unary_old "))
    tools("cuda-programs")
    assert [row.version for row in record.read().values()] == [version, "12.0"]


def test_compiler_that_is_missing_is_a_sentence(tools, few, monkeypatch):
    def missing():
        message = "NVRTC, the compiler of CUDA's kernels, is not installed"
        raise ep.UnavailableError(message)

    monkeypatch.setattr(command, "nvrtc", missing)
    done = tools("cuda-programs")
    assert (done.code, done.lines[-1]) == (2, "Error: NVRTC, the compiler of CUDA's kernels, is not installed")


def test_process_that_ends_is_a_sentence_and_nothing_is_recorded(tools, few, monkeypatch):
    def ended(*_):
        raise command.BrokenProcessPool

    monkeypatch.setattr(command.ProcessPoolExecutor, "map", ended)
    done = tools("cuda-programs")
    assert done.code == 1
    assert done.lines[-1].startswith("Error: a process that compiled one of elementwise_unary_abs-")
    assert record.read() == {}
