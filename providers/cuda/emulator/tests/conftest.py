"""The fixtures of this room's tests: programs under the emulated driver."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from bare_driver import CALLS
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


@pytest.fixture
def lines(emulate):
    """Return a function that runs a program and returns the lines that it prints."""

    def run(text, **variables):
        done = emulate(CALLS + text, **variables)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    return run


class Kernels:
    """Kernels of CUDA's C, one after the other in one process: `run` returns what one wrote, `fail` how one failed."""

    def __init__(self, folder, cache):
        self.log = folder / "log"
        variables = {
            "EP_CACHE_DIR": str(cache),
            "EP_CUDA_EMULATOR_LOG": str(self.log),
            "EP_CUDA_EMULATOR_PATIENCE": "100000",
        }
        command = [sys.executable, str(_HERE / "bare_driver.py")]
        given = environment({**os.environ, **variables})
        self.process = subprocess.Popen(
            command, env=given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def _ask(self, source, threads, count, grid, shared):
        self.log.write_text("")
        pickle.dump((source, grid, threads, count, shared), self.process.stdin)
        self.process.stdin.flush()
        return pickle.load(self.process.stdout)

    def run(self, source, threads=64, count=64, grid=1, shared=0):
        made, codes = self._ask(source, threads, count, grid, shared)
        assert not codes, self.log.read_text()
        return made

    def fail(self, source, threads=64, count=256, grid=1):
        made, codes = self._ask(source, threads, count, grid, 0)
        assert made is None
        return codes, self.log.read_text()


@pytest.fixture(scope="module")
def kernels(cache, tmp_path_factory):
    """Return the kernels of a module's tests."""
    found = Kernels(tmp_path_factory.mktemp("kernels"), cache)
    yield found
    found.process.stdin.close()
    found.process.wait(30)
    found.process.stdout.close()


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
