"""The fixtures of this room's tests: programs under the emulated driver."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from ep_cuda_emulator.place import environment

_HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """Return a folder for objects that all tests share, and nobody else."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def emulate(cache):
    """Return a function that runs a program's text, or a program with its arguments, under the emulated driver."""

    def run(*command, **variables):
        words = [sys.executable, "-c", command[0]] if len(command) == 1 else [*command]
        given = {**os.environ, "EP_CACHE_DIR": str(cache), "PYTHONPATH": str(_HERE), **variables}
        return subprocess.run(words, env=environment(given), capture_output=True, text=True, check=False, timeout=300)

    return run


@pytest.fixture(scope="module")
def computed(request, cache, tmp_path_factory):
    """Return the results of a module's PROGRAMS: of each its PTX, the operands, and the type and shape of what it returns."""
    folder = tmp_path_factory.mktemp("programs")
    given, made = folder / "given", folder / "made"
    given.write_bytes(pickle.dumps(request.module.PROGRAMS))
    variables = {**os.environ, "EP_CACHE_DIR": str(cache), "PYTHONPATH": str(_HERE)}
    command = [sys.executable, str(_HERE / "bare_driver.py"), str(given), str(made)]
    done = subprocess.run(command, env=environment(variables), capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return pickle.loads(made.read_bytes())
