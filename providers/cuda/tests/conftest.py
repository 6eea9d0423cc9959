"""The fixtures of this room's tests: a stand-in for NVIDIA's driver, and programs that run on it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_SOURCE = Path(__file__).parent / "stand_in" / "driver.cpp"


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory):
    """Return the folder of a libcuda.so.1 that has memory, streams and events, and runs no kernels."""
    folder = tmp_path_factory.mktemp("driver")
    library = folder / "libcuda.so.1"
    subprocess.run(
        ["g++", "-std=c++20", "-O1", "-shared", "-fPIC", "-pthread", str(_SOURCE), "-o", str(library)], check=True
    )
    return folder


@pytest.fixture
def run():
    """Return a function that runs `python -m module`, or a program's text, with a driver from a folder, or with none."""

    def start(*arguments, driver=None, **variables):
        environment = {**os.environ, "LD_LIBRARY_PATH": str(driver or ""), **variables}
        return subprocess.run(
            [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False
        )

    return start
