"""The attention example: right against finite differences, NumPy and PyTorch; complete or refused by name on any device."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import ep

EXAMPLES = Path(__file__).parent.parent
FIXTURE = Path(__file__).with_name("attention_pytorch.npz")
RESULTS = ["y", "dx", "dw_in", "db_in", "dw_out", "db_out"]
EPSILON = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
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


def run(*arguments, environment=None):
    return subprocess.run(
        [sys.executable, str(EXAMPLES / "attention.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=environment,
    )


def assert_near(example, found, wanted, epsilons, what):
    errors = {name: example.largest_error(found[name], wanted[name]) for name in RESULTS}
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


def test_reference_agrees_with_pytorch(example, answers, fixture):
    found = answers.reference(fixture["inputs"], fixture["heads"])
    assert_near(example, found, fixture["float64"], 1e-14, "reference")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["cpu:0", "sim:0"])
def test_device_agrees_with_pytorch(example, fixture, name, dtype):
    inputs, exact = fixture["inputs"], fixture["float64"]
    block = example.Attention(ep.device(name), inputs["x"].shape, fixture["heads"], dtype)
    what = f"{name} {dtype} against PyTorch {fixture['version']} in float64"
    assert_near(example, block.step(inputs), exact, 16 * EPSILON[dtype], what)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_device_in_narrow_types_agrees_with_the_reference_on_the_same_numbers(example, answers, fixture, dtype):
    inputs = {name: each.astype(example.array_dtype(dtype)) for name, each in fixture["inputs"].items()}
    found = example.Attention(ep.device("cpu:0"), inputs["x"].shape, fixture["heads"], dtype).step(inputs)
    exact = answers.reference(inputs, fixture["heads"])
    assert_near(example, found, exact, 4 * EPSILON[dtype], f"cpu:0 {dtype}")


def test_opencl_agrees_with_pytorch_or_names_what_it_lacks(example, fixture):
    inputs, name, missing = fixture["inputs"], "opencl:0", ""
    try:
        block = example.Attention(ep.device(name), inputs["x"].shape, fixture["heads"])
    except ep.UnsupportedError as error:
        missing = str(error)
    if missing:
        assert re.search(r"(?m)^\w+/[\w-]+/[\w,>-]+/[\w-]+: unsupported on opencl:0$", missing)
    else:
        assert_near(example, block.step(inputs), fixture["float64"], 16 * EPSILON["float32"], name)


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


@pytest.fixture
def lacking(tmp_path):
    """Return the environment of an interpreter that finds a provider of two families, and no other family of the example."""
    shutil.copytree(EXAMPLES / "ep_acme" / "ep_acme", tmp_path / "ep_acme")
    info = tmp_path / "ep_acme-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ep-acme\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[ep.providers]\nacme = ep_acme\n")
    return {**os.environ, "PYTHONPATH": str(tmp_path)}


def test_device_that_lacks_primitives_names_each_cell_and_takes_none_elsewhere(lacking):
    done = run("acme:0", environment=lacking)
    assert done.returncode == 4, done.stdout + done.stderr
    assert not done.stderr
    assert done.stdout.startswith("acme:0 lacks 19 of 19 launches, which are\n")
    for cell in ("matmul/-/float32/strided", "softmax/-/float32/dense", "broadcast_binary/add/float32/dense"):
        assert (
            f"\n{cell}: unsupported on acme:0\n  - acme has no implementation of {cell.split('/')[0]}\n" in done.stdout
        )
    assert "largest error" not in done.stdout


def test_example_notices_a_wrong_result(example, monkeypatch):
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
@pytest.mark.parametrize("dtype", list(EPSILON))
def test_pytorch_as_installed_agrees_in_every_type(example, answers, fixture, dtype):
    from ep_tools.peers import attention as pytorch

    shape, heads = (4, 64, 96), 6
    live = pytorch.answer(fixture["inputs"], fixture["heads"], "float64")
    assert_near(example, live, fixture["float64"], 1e-14, "PyTorch live against the fixture")
    inputs = {name: each.astype(example.array_dtype(dtype)) for name, each in answers.problem(shape, seed=3).items()}
    wide = {name: each.astype(np.float64) for name, each in inputs.items()}
    exact, theirs = (pytorch.answer(wide, heads, each) for each in ("float64", dtype))
    ours = example.Attention(ep.device("cpu:0"), shape, heads, dtype).step(inputs)
    bound = 16 * EPSILON[dtype]
    assert_near(example, ours, exact, bound, f"cpu:0 {dtype} against PyTorch live in float64, {shape}")
    if dtype != "float64":
        assert_near(example, theirs, exact, bound, f"PyTorch's own {dtype} against its float64, {shape}")
