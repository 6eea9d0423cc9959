"""What peers answer, and how long they take: each where it is installed."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from ep_tools.folders import ROOT


def test_pairs_take_turns_and_are_compared_pair_by_pair(monkeypatch):
    from ep_tools.peers import pairs

    clock, order = SimpleNamespace(now=0.0), []
    monkeypatch.setattr(pairs.time, "perf_counter", lambda: clock.now)
    monkeypatch.setattr(pairs.time, "sleep", lambda seconds: None)

    def runs(name, seconds):
        def run():
            order.append(name)
            clock.now += seconds

        return run

    found = pairs.paired(runs("ours", 0.5), runs("theirs", 1.0), 12)
    assert order == ["ours", "theirs"] * 8
    assert found == pairs.Pairs((0.5,) * 8, (1.0,) * 8)
    assert found.cells() == ["500.0", "1000.0", "2.00", "2.00"]
    assert len(pairs.paired(runs("ours", 0.5), runs("theirs", 1.0), 0).ours) == 7


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_onnx_runtime_is_timed_beside_ep(tools):
    pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")
    done = tools("onnx-runtime", "--only", "squeezenet", "--seconds", 0)
    assert done.code == 0
    (row, spent) = [cells(line) for line in done.output.splitlines() if line.startswith("| squeezenet |")]
    assert all(float(number) > 0 for number in row[1:7])
    assert re.match(r"\w+ \d+\.\d(, \w+ \d+\.\d)*$", spent[1])
    done = tools("onnx-runtime", "--only", "no-such-model")
    assert (done.code, done.output) == (2, "")
    assert "no model has a name with 'no-such-model'" in done.lines[-1]


def test_attention_is_answered_as_in_the_committed_fixture(tools, monkeypatch, tmp_path):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: make second-opinion")
    from ep_tools.peers import attention

    committed, made = attention.FIXTURE, tmp_path / "attention.npz"
    monkeypatch.setattr(attention, "FIXTURE", made)
    done = tools("attention")
    assert (done.code, done.lines) == (0, [])
    assert done.output == f"attention.npz: PyTorch {torch.__version__}, {made.stat().st_size} bytes\n"
    with np.load(committed) as stored, np.load(made) as again:
        assert stored.files == again.files
        assert all(np.array_equal(stored[name], again[name]) for name in stored.files if name.startswith("inputs/"))
        for name in stored.files:
            if name.startswith("float64/"):
                np.testing.assert_allclose(again[name], stored[name], rtol=1e-12, atol=1e-12)
    assert committed == ROOT / "examples/tests/attention_pytorch.npz"


def test_exported_architecture_agrees_with_pytorch(tools):
    for name in ("torch", "transformers", "onnxscript"):
        pytest.importorskip(name, reason=f"{name} is not installed: see ep_tools/peers/exported.py")
    done = tools("exported", "--only", "bert", "--seconds", 0)
    assert done.code == 0
    (row,) = [cells(line) for line in done.output.splitlines() if line.startswith("| BERT |")]
    assert float(row[4]) < 1e-4
    assert float(row[6]) > 0
    assert float(row[7]) > 0
