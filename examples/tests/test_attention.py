"""The attention example: right against finite differences, NumPy and PyTorch; complete or refused by name on any device."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import ep

EXAMPLES = Path(__file__).parent.parent
TOOLS = EXAMPLES.parent / "tools"
FIXTURE = Path(__file__).with_name("attention_pytorch.npz")
RESULTS = ["y", "dx", "dw_in", "db_in", "dw_out", "db_out"]
EPSILON = {"float32": 2.0**-23, "float64": 2.0**-52}
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed: make second-opinion")


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    return __import__("attention")


@pytest.fixture
def answers(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    return __import__("attention_reference")


@pytest.fixture(scope="module")
def fixture():
    with np.load(FIXTURE) as file:
        parts = {name: {} for name in ("inputs", "float64", "float32")}
        for name in file.files:
            if "/" in name:
                parts[name.split("/")[0]][name.split("/")[1]] = file[name]
        return {**parts, "heads": int(file["heads"]), "version": str(file["version"])}


def run(*arguments):
    return subprocess.run(
        [sys.executable, str(EXAMPLES / "attention.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def assert_near(example, found, wanted, epsilons, capsys, what):
    errors = {name: example.largest_error(found[name], wanted[name]) for name in RESULTS}
    with capsys.disabled():
        print(f"\n{what}: " + ", ".join(f"{name} {error:.2g}" for name, error in errors.items()))
    assert max(errors.values()) < epsilons, errors


def test_reference_agrees_with_finite_differences(answers):
    inputs = {name: each.astype(np.float64) for name, each in answers.problem((2, 4, 6), seed=1).items()}
    found, step = answers.reference(inputs, heads=3), 1e-5

    def loss(**changed):
        return float((answers.reference({**inputs, **changed}, heads=3)["y"] * inputs["dy"]).sum())

    for name in ("x", "w_in", "b_in", "w_out", "b_out"):
        slopes = np.empty_like(inputs[name])
        for place in np.ndindex(slopes.shape):
            nudge = np.zeros_like(slopes)
            nudge[place] = step
            slopes[place] = (loss(**{name: inputs[name] + nudge}) - loss(**{name: inputs[name] - nudge})) / (2 * step)
        np.testing.assert_allclose(found[f"d{name}"], slopes, rtol=0, atol=1e-8 * np.abs(slopes).max())


def test_reference_agrees_with_pytorch(example, answers, fixture, capsys):
    found = answers.reference(fixture["inputs"], fixture["heads"])
    assert_near(example, found, fixture["float64"], 1e-14, capsys, "reference")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["cpu:0", "sim:0"])
def test_device_agrees_with_pytorch(example, fixture, capsys, name, dtype):
    inputs, exact = fixture["inputs"], fixture["float64"]
    block = example.Attention(ep.device(name), inputs["x"].shape, fixture["heads"], dtype)
    what = f"{name} {dtype} against PyTorch {fixture['version']} in float64"
    assert_near(example, block.step(inputs), exact, 16 * EPSILON[dtype], capsys, what)


def test_device_is_as_near_as_pytorch_in_the_same_type(example, fixture):
    inputs, exact, theirs = fixture["inputs"], fixture["float64"], fixture["float32"]
    ours = example.Attention(ep.device("cpu:0"), inputs["x"].shape, fixture["heads"]).step(inputs)
    for name in RESULTS:
        error = example.largest_error(ours[name], exact[name])
        assert error <= 4 * example.largest_error(theirs[name], exact[name]), name


def test_step_can_be_repeated_with_other_inputs_and_allocates_nothing(example, answers):
    device, heads = ep.device("cpu:0"), 2
    first, second = (answers.problem((3, 5, 8), seed) for seed in (1, 2))
    block = example.Attention(device, (3, 5, 8), heads)
    once = block.step(first)
    in_use = device.memory_info().in_use
    other, again = block.step(second), block.step(first)
    assert device.memory_info().in_use == in_use
    for name in RESULTS:
        np.testing.assert_array_equal(once[name], again[name])
        assert example.largest_error(other[name], answers.reference(second, heads)[name]) < 1e-5


def test_later_positions_do_not_show_in_earlier_ones(example, answers):
    inputs = answers.problem((1, 6, 8))
    block = example.Attention(ep.device("cpu:0"), (1, 6, 8), 2)
    before = block.step(inputs)["y"]
    changed = {**inputs, "x": inputs["x"].copy()}
    changed["x"][:, 4:] *= -3
    after = block.step(changed)["y"]
    np.testing.assert_array_equal(before[:, :4], after[:, :4])
    assert (np.abs(before[:, 4:] - after[:, 4:]).max(axis=-1) > 1).all()


def test_example_says_who_ran_what_and_how_near_it_is():
    done = run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("cpu:0: 19 launches in one graph: matmul by PanelMatmul, where by ")
    for family in ("add", "softmax", "softmax_backward", "sum"):
        assert f", {family} by " in done.stdout
    assert "db_out " in done.stdout.splitlines()[-1]


def test_device_that_lacks_primitives_names_them_and_takes_none_elsewhere():
    lacking = ep.device("opencl:0")
    done = run(lacking.name)
    assert done.returncode == 4, done.stdout + done.stderr
    assert done.stdout.startswith("opencl:0 lacks ")
    for cell in ("matmul/-/float32/strided", "softmax/-/float32/dense"):
        assert f"{cell}: unsupported on opencl:0" in done.stdout
    assert "broadcast_binary/add" not in done.stdout
    assert "largest error" not in done.stdout


def test_example_notices_a_wrong_result(example, monkeypatch, capsys):
    right = example.reference
    monkeypatch.setattr(example, "reference", lambda *given: {**right(*given), "db_in": np.ones(96)})
    monkeypatch.setattr(sys, "argv", ["attention.py", "cpu:0"])
    assert example.main() == 1


def test_unknown_device_ends_in_one_line():
    done = run("nope:0")
    assert done.returncode == 2
    assert "known are" in done.stdout
    assert "Traceback" not in done.stderr


def test_device_that_is_not_here_is_exit_3():
    assert run("cpu:7").returncode == 3


def test_help_tells_the_exit_codes():
    done = run("--help")
    assert done.returncode == 0
    assert "4  the device lacks primitives, which are named" in done.stdout


@needs_torch
def test_pytorch_as_installed_gives_the_fixture_and_the_device_agrees(example, answers, fixture, monkeypatch, capsys):
    monkeypatch.syspath_prepend(TOOLS)
    pytorch = __import__("attention_fixture")
    live = pytorch.answer(fixture["inputs"], fixture["heads"], "float64")
    assert_near(example, live, fixture["float64"], 1e-14, capsys, "PyTorch live against the fixture")
    inputs = answers.problem((4, 64, 96), seed=3)
    ours = example.Attention(ep.device("cpu:0"), (4, 64, 96), 6).step(inputs)
    what = "cpu:0 float32 against PyTorch live, 4 x 64 x 96"
    assert_near(example, ours, pytorch.answer(inputs, 6, "float64"), 32 * EPSILON["float32"], capsys, what)
