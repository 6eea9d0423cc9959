"""Training over meshes of ranks gives what one rank gives, whatever is split and whenever gradients are reduced."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

EXAMPLES = Path(__file__).parent.parent


@pytest.fixture
def training(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    return __import__("training")


@pytest.fixture
def small(training):
    return training.Settings((5, 6, 8), heads=4, layers=2, rate=0.3)


def test_every_mesh_trains_as_one_rank_does(training, small):
    curve, wanted = training.trained("cpu:0", (1, 1), small._replace(dtype="float64"), 4)
    assert curve[-1] < 0.9 * curve[0]
    for mesh in (*training.MESHES, (3, 1), (1, 1)):  # 5 sequences over 2, 3 and 4 ranks
        for overlaps in (False, True):
            losses, weights = training.trained("cpu:0", mesh, small, 4, overlaps=overlaps)
            assert training.distance(weights, wanted) < training.BOUND, mesh
            np.testing.assert_allclose(losses, curve, rtol=1e-5)


@pytest.mark.parametrize("overlaps", [True, False])
def test_gradients_are_reduced_while_the_backward_pass_goes_on(training, small, overlaps):
    """The pass is held where the gradients of one block are there, and those of the other are not."""
    gate, reduced = threading.Event(), []
    with training.ranks("cpu:0", (2, 1), small, overlaps=overlaps) as made:
        try:
            for rank in made:
                hold(rank, gate, reduced)
            losses = [rank.step(*training.batches(small, 0)) for rank in made]
            of_a_block = len(made[0].weights[0])
            first = reduced[:of_a_block]  # of rank 0, and of the last block
            if overlaps:
                first[-1].synchronize(20)
            assert [event.is_done for event in first] == [overlaps] * of_a_block
            assert not any(event.is_done for event in reduced[of_a_block : 2 * of_a_block])
        finally:
            gate.set()
        for rank, loss in zip(made, losses, strict=True):
            assert np.isfinite(loss.local.numpy(rank.stream))


def hold(rank, gate, reduced):
    """Let a rank's stream wait before the gradients of its first block, and note each reduction by an event behind it."""
    backward, reduce = rank.blocks[0].backward, rank.reduced

    def held(dy):
        rank.stream.call(gate.wait)
        yield from backward(dy)

    def noted(weight, gradient):
        local = reduce(weight, gradient)
        reduced.append(rank.reducing.record())
        return local

    rank.blocks[0].backward, rank.reduced = held, noted


def test_a_step_does_what_the_formulas_say(training, small, monkeypatch):
    """One block, one step, against the reference of the attention example."""
    from attention_reference import reference

    one = small._replace(layers=1, dtype="float64")
    from training_model import batches, first_weights

    (layer,), (x, target) = first_weights(one), batches(one, 0)
    flat = {"w_in": layer["w_in"].reshape(8, 24), "b_in": layer["b_in"].reshape(24)}
    inputs = {"x": x, **flat, "w_out": layer["w_out"], "b_out": layer["b_out"], "dy": np.zeros_like(x)}
    error = reference(inputs, one.heads)["y"] - target
    found = reference({**inputs, "dy": 2 * error / error.size}, one.heads)
    losses, weights = training.trained("cpu:0", (2, 2), one, 1)
    np.testing.assert_allclose(losses, [(error**2).mean()], rtol=1e-13)
    for name, weight in zip(("w_in", "b_in", "w_out", "b_out"), weights, strict=True):
        wanted = layer[name] - one.rate * found[f"d{name}"].reshape(layer[name].shape)
        np.testing.assert_allclose(weight, wanted, rtol=0, atol=1e-13)


def test_the_program_compares_and_draws(training, small, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(training, "Settings", lambda: small)
    drawn = tmp_path / "curves.svg"
    monkeypatch.setattr(sys, "argv", ["training.py", "--mesh", "2x1", "--steps", "2", "--picture", str(drawn)])
    assert training.main() == 0
    assert "2 x 1" in capsys.readouterr().out
    curves = [each for each in ET.parse(drawn).iter() if each.tag.endswith("polyline")]
    assert len(curves) == 4  # two panels, of one rank and of the mesh
    monkeypatch.setattr(training, "BOUND", 0.0)
    assert training.main() == 1


def test_the_program_measures(training, small, monkeypatch, capsys):
    monkeypatch.setattr(training, "LARGE", small)
    monkeypatch.setattr(sys, "argv", ["training.py", "--measure"])
    assert training.main() == 0
    assert capsys.readouterr().out.count(" ms, least ") == 3


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--mesh", "1x3"], 2, "heads do not divide over 3 ranks"),
        (["nope:0"], 2, "nope"),
        (["cpu:7"], 3, "cpu"),
    ],
)
def test_mistakes_end_in_a_line(training, monkeypatch, capsys, arguments, status, words):
    monkeypatch.setattr(sys, "argv", ["training.py", *arguments])
    assert training.main() == status
    assert words in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--mesh", "2"], "'2' is no mesh; give two extents above 0"),
        (["--mesh", "0x2"], "'0x2' is no mesh"),
        (["--steps", "0"], "--steps is 0, needs a number from 1 on"),
        (["--picture", "no/such/folder/a.svg"], "there is no folder no/such/folder"),
    ],
)
def test_mistakes_of_the_command_line_end_before_the_training(training, monkeypatch, capsys, arguments, words):
    monkeypatch.setattr(sys, "argv", ["training.py", *arguments])
    with pytest.raises(SystemExit, match="2"):
        training.main()
    assert words in capsys.readouterr().err
