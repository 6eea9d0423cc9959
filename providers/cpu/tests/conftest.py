import os
import subprocess
import sys
from pathlib import Path

import pytest

import ep


@pytest.fixture(scope="session")
def device():
    return ep.device("cpu:0")


@pytest.fixture
def stream(device):
    stream = device.stream()
    yield stream
    stream.close()


@pytest.fixture
def fresh_python(tmp_path: Path):
    """Run a program in a fresh interpreter: run(text, NAME=value, ...) returns what it printed."""

    def run(text: str, **variables: str) -> str:
        program = tmp_path / "program.py"
        program.write_text(text)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("EP_CPU_")}
        done = subprocess.run(
            [sys.executable, program],
            env=environment | variables,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run
