"""The examples that stand on ONNX: as a user runs them."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1]


def run(example, *arguments, code=0):
    done = subprocess.run(
        [sys.executable, str(FOLDER / example), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("device", ["cpu:0", "sim:0"])
def test_stripes_are_told_apart(device):
    assert "16 of 16 right" in run("onnx_classifier.py", "--device", device, "--count", 16)


def test_a_prompt_is_gone_on_with_by_two_plans():
    shown = run("onnx_language_model.py", "the cat sat on the mat. the ca", "--count", 24)
    assert "|t sat on the mat. the" in shown
    assert "2 plans" in shown
    assert "0 waits" in shown


def test_wrong_use_is_a_sentence():
    assert "letters" in run("onnx_language_model.py", "CAPITALS", code=2)
    assert "unknown provider 'nobody'" in run("onnx_classifier.py", "--device", "nobody:0", code=1)
