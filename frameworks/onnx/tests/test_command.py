"""The command `ep-onnx`, as a user types it."""

import re
import sys
from importlib.util import find_spec

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from ep_onnx import cli, peer
from made_models import FLOAT, model
from onnx import TensorProto, helper

node = helper.make_node
BFLOAT16 = TensorProto.BFLOAT16
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed: make second-opinion")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    proto = model(
        [node("Exp", ["x"], ["e"]), node("Relu", ["e"], ["y"])], {"x": (FLOAT, ["n", 3])}, {"y": (FLOAT, ["n", 3])}
    )
    onnx.save(proto, "m.onnx")
    np.save("x.npy", np.zeros((2, 3), np.float32))
    (tmp_path / "bad.onnx").write_bytes(b"\xff" * 50)
    (tmp_path / "empty.npy").touch()
    return tmp_path


def run(*arguments):
    """Return exit code and text of the command in this process."""
    runner = CliRunner()
    with runner.isolation() as (out, err, _):
        try:
            cli.main([*map(str, arguments)])
            code = 0
        except SystemExit as end:
            code = end.code
    return code, out.getvalue().decode() + err.getvalue().decode()


def test_run_shows_outputs_launches_and_memory(folder):
    code, shown = run("run", "m.onnx", "--input", "x.npy", "--repeat", 2, "--output", "out", "--compare", "onnx")
    assert code == 0, shown
    assert "(2, 3)" in shown
    assert "2 launches in 1 segments on cpu:0" in shown
    assert "largest difference from onnx" in shown
    np.testing.assert_array_equal(np.load(folder / "out" / "y.npy"), np.ones((2, 3), np.float32))


def test_sequences_and_absent_values_are_shown_by_their_parts(folder):
    made = [node("SplitToSequence", ["x"], ["s"], axis=0, keepdims=0), node("Optional", [], ["o"], type=optional())]
    proto = model(made, {"x": (FLOAT, [2, 3])}, {"s": (FLOAT, None), "o": (FLOAT, None)})
    onnx.save(proto, "s.onnx")
    code, shown = run("run", "s.onnx", "--input", "x.npy", "--output", "out")
    assert code == 0, shown
    assert sorted(each.name for each in (folder / "out").iterdir()) == ["s.0.npy", "s.1.npy"]


def test_the_rows_of_a_file_are_a_sequence(folder):
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, [3]))
    proto = model([node("ConcatFromSequence", ["s"], ["y"], axis=0)], {}, {"y": (FLOAT, [6])})
    proto.graph.input.append(helper.make_value_info("s", kind))
    onnx.save(proto, "c.onnx")
    assert run("run", "c.onnx", "--input", "x.npy", "--compare", "onnx")[0] == 0
    code, shown = run("run", "c.onnx")
    assert (code, "input 's' is a sequence; give it with --input" in shown) == (2, True), shown


def optional():
    return helper.make_tensor_type_proto(FLOAT, None)


def test_what_was_saved_can_be_given(folder):
    wide = model([node("Relu", ["x"], ["y"])], {"x": (BFLOAT16, [3])}, {"y": (BFLOAT16, [3])})
    onnx.save(wide, "b.onnx")
    for given in ((), ("--input", "out/y.npy")):
        code, shown = run("run", "b.onnx", *given, "--output", "out")
        assert (code, "bfloat16" in shown) == (0, True), shown


def test_open_extents_are_given_by_name(folder):
    code, shown = run("run", "m.onnx", "--extent", "n=5")
    assert (code, "(5, 3)" in shown) == (0, True)


def test_check_counts_launches_by_family(folder):
    code, shown = run("check", "m.onnx")
    assert code == 0
    assert re.search(r"Exp +│ 1 +│ 1 elementwise_unary", shown)
    assert "all 2 nodes run" in shown


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["run", "none.onnx"], 2, "give the path of a model"),
        (["run", "bad.onnx"], 2, "damaged"),
        (["check", "bad.onnx"], 2, "damaged"),
        (["run", "m.onnx", "--input", "none.npy"], 2, "numpy.save"),
        (["run", "m.onnx", "--input", "empty.npy"], 2, "numpy.save"),
        (["run", "m.onnx", "--input", "z=x.npy"], 2, "unknown z"),
        (["run", "m.onnx", "--input", "x.npy", "--input", "x.npy"], 2, "1 inputs"),
        (["run", "m.onnx", "--extent", "n"], 2, "NAME=N"),
        (["run", "m.onnx", "--extent", "q=3"], 2, "it has n"),
        (["run", "m.onnx", "--device", "nobody:0"], 2, "nobody"),
        (["run", "m.onnx", "--device", "cpu:77"], 3, "cpu:77"),
        (["run"], 2, "MODEL"),
        (["frobnicate"], 2, "frobnicate"),
    ],
)
def test_wrong_use_is_one_sentence_and_an_exit_code(folder, arguments, code, words):
    ended, shown = run(*arguments)
    assert (ended, words in shown, "Traceback" in shown) == (code, True, False), shown


def test_peer_that_is_not_there_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    code, shown = run("run", "m.onnx", "--compare", "onnxruntime")
    assert (code, "pip install onnxruntime" in shown) == (2, True), shown


def test_results_that_differ_from_a_peer_are_exit_1(folder, monkeypatch):
    monkeypatch.setitem(peer.PEERS, "onnx", lambda _path, given: [np.exp(given["x"]) + 0.01])
    code, shown = run("run", "m.onnx", "--input", "x.npy", "--compare", "onnx")
    assert (code, "results differ from onnx by 9.90e-03" in shown) == (1, True), shown
    monkeypatch.setitem(peer.PEERS, "onnx", lambda _path, given: [np.full_like(given["x"], np.nan)])
    assert run("run", "m.onnx", "--input", "x.npy", "--compare", "onnx")[0] == 1

    odd = np.array([[np.nan, np.inf, -np.inf]], np.float32)
    np.save("odd.npy", odd)
    monkeypatch.setitem(peer.PEERS, "onnx", lambda _path, given: [np.maximum(np.exp(given["x"]), 0)])
    code, shown = run("run", "m.onnx", "--input", "odd.npy", "--compare", "onnx")
    assert (code, "0.00e+00" in shown) == (0, True), shown


@needs_torch
def test_program_of_pytorch_is_compared(folder):
    import torch

    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.relu(torch.exp(x))

    code, shown = run("run", "m.onnx", "--input", "x.npy", "--compare", "torch")
    assert (code, "m.pt2 is not there" in shown) == (2, True), shown
    torch.export.save(torch.export.export(Model(), (torch.zeros(2, 3),)), "m.pt2")
    code, shown = run("run", "m.onnx", "--input", "x.npy", "--compare", "torch")
    assert (code, "largest difference from torch 0.00e+00" in shown) == (0, True), shown


def test_more_memory_than_there_is_names_node_input_or_output(folder):
    far = {"s": np.array([20_000_000_000, 1, 1])}
    inner = [node("Expand", ["x", "s"], ["e"]), node("Exp", ["e"], ["f"]), node("ReduceSum", ["f"], ["y"])]
    onnx.save(model(inner, {"x": (FLOAT, ["n", 3])}, {"y": (FLOAT, None)}, far), "inner.onnx")
    code, shown = run("run", "inner.onnx")
    assert (code, "most of it for Exp 'f'" in shown, "give smaller inputs" in shown) == (3, True, True), shown
    onnx.save(model(inner[:1], {"x": (FLOAT, ["n", 3])}, {"e": (FLOAT, None)}, far), "outer.onnx")
    code, shown = run("run", "outer.onnx")
    assert (code, "output 0" in shown) == (3, True), shown
    code, shown = run("run", "m.onnx", "--extent", "n=100000000000")
    assert (code, "input 'x' has shape (100000000000, 3)" in shown) == (3, True), shown


def test_lacking_nodes_are_exit_3(folder):
    nodes = [node("Exp", ["x"], ["e"]), node("TfIdfVectorizer", ["e"], ["t"]), node("Det", ["t"], ["y"])]
    onnx.save(model(nodes, {"x": (FLOAT, [3])}, {"y": (FLOAT, [3])}), "t.onnx")
    code, shown = run("check", "t.onnx")
    assert code == 3
    assert "TfIdfVectorizer 't': no rule" in shown
    assert "without a rule as well: Det" in shown
    assert re.search(r"Exp +│ 1 +│ 1 elementwise_unary", shown)
    assert len(re.findall(r"│ (Det|TfIdfVectorizer) +│ 1 +│ - +│ +│ rule", shown)) == 2


@pytest.mark.usefixtures("lacking")
def test_check_names_each_lacking_cell_once(folder):
    onnx.save(
        model([node("Tan", [f"x{i}"], [f"x{i + 1}"]) for i in range(3)], {"x0": (FLOAT, [37])}, {"x3": (FLOAT, [37])}),
        "t.onnx",
    )
    code, shown = run("check", "t.onnx", "--device", "opencl:0")
    assert code == 3
    assert re.search(r"Tan +│ 3 +│ - +│ +│ elementwise_unary", shown)
    assert shown.count("elementwise_unary/tan/float32/dense: unsupported") == 1
    assert "Tan 'x1' and 2 more" in shown
