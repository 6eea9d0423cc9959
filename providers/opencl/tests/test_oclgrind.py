"""Every access of kernels, verbs and graphs, watched by oclgrind, an OpenCL device that interprets and checks.

Its list of values that were written knows nothing of fills and copies by command, and none of LLVM's newer instructions, so
that not every kernel can be asked for values that were not. All claimed kernels: `make oclgrind`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

KERNELS = Path(__file__).with_name("claimed_kernels.py")

VALUES = ("--uninitialized", "--build-options", "-cl-opt-disable")


@pytest.fixture
def complaints(tmp_path):
    """Return a function that runs kernels and returns the checker's messages about them."""
    if shutil.which("oclgrind") is None:
        pytest.skip("oclgrind is not installed")

    def check(names, *options):
        log = tmp_path / "log"
        command = ["oclgrind", "--data-races", *options, "--log", log, sys.executable, KERNELS, *names]
        environment = {**os.environ, "PYOPENCL_NO_CACHE": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        assert "launches on Oclgrind" in done.stdout
        assert not done.stdout.startswith("0 ")
        return log.read_text()

    return check


def test_race_and_write_past_the_end_are_noticed(complaints):
    said = complaints(["fault"])
    assert "Write-write data race" in said
    assert "Invalid write of size 4" in said


def test_value_that_nobody_wrote_is_noticed(complaints):
    assert "ninitialized" in complaints(["fault"], *VALUES)


def test_graphs_copies_and_random_fills_neither_race_nor_leave_their_memory(complaints):
    assert complaints(["runtime", "random_fill", "copy"]) == ""


def test_fills_and_copies_neither_race_nor_leave_their_memory_nor_read_what_nobody_wrote(complaints):
    # Structures of 16 bytes are among those instructions.
    assert complaints(["fill", "copy/*/[!c]*/*"], *VALUES) == ""
