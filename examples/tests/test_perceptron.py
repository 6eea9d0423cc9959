"""The framework example runs on every in-tree provider and agrees with NumPy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent.parent / "perceptron.py"


def perceptron(*arguments):
    return subprocess.run(
        [sys.executable, str(EXAMPLE), *arguments], capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.parametrize(
    ("device", "who"),
    [("cpu:0", "PanelMatmul on cpu:0"), ("opencl:0", "NumPy: downloaded, multiplied and uploaded")],
)
def test_perceptron_agrees_with_numpy_and_says_who_multiplies(device, who):
    done = perceptron(device)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{device}: products are by {who}\n" in done.stdout
    assert "y has shape (32, 10)" in done.stdout


def test_perceptron_notices_a_wrong_result(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(EXAMPLE.parent))
    import perceptron as example

    monkeypatch.setattr(example, "expected", lambda x, layers: example.np.zeros((32, 10)))
    monkeypatch.setattr(sys, "argv", ["perceptron.py", "cpu:0"])
    assert example.main() == 1


def test_unknown_device_ends_in_one_line():
    done = perceptron("nope:0")
    assert done.returncode == 2
    assert "known are" in done.stdout
    assert "Traceback" not in done.stderr
