"""The fixtures of this room's tests: the emulated driver, and programs that run on it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from ep_cuda_emulator.place import library


@pytest.fixture(scope="session")
def emulated():
    """Return the folder of the emulated driver."""
    return library().parent


@pytest.fixture
def run():
    """Return a function that runs `python -m module`, or a program's text, with a driver from a folder, or with none."""

    def start(*arguments, driver=None, **variables):
        environment = {
            **os.environ,
            "LD_LIBRARY_PATH": str(driver or ""),
            "EP_CUDA_EMULATOR_PYTHON": sys.executable,
            **variables,
        }
        return subprocess.run(
            [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False
        )

    return start
