"""The fixtures of this room's tests: two devices, and programs in an interpreter of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import ep

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def device():
    """Return sim:0; without the C part there is nothing to test."""
    try:
        found = ep.device("sim:0")
    except ep.UnavailableError as error:
        pytest.skip(str(error))
    found.twin.reseed(0)
    yield found
    if not found.is_closed and not found.twin.is_lost:
        found.synchronize()


@pytest.fixture
def patient(device, monkeypatch):
    """Return sim:0, which never goes on by itself, so that a busy machine changes no order."""
    monkeypatch.setattr(device.twin.scheduler, "patience", 60.0)
    return device


@pytest.fixture
def other(device):
    """Return sim:1."""
    return ep.device("sim:1")


@pytest.fixture
def reader(device):
    """Return a function from a memory to the bytes that it holds once everything before is done."""

    def read(memory):
        stream, host = memory.device.stream(), np.zeros(memory.nbytes, np.uint8)
        stream.download(host, memory)
        stream.close()
        return host

    return read


@pytest.fixture
def program(tmp_path: Path):
    """Run a program in a fresh interpreter: program(text, NAME=value, ...) returns the completed process."""

    def run(text: str, **variables: str) -> subprocess.CompletedProcess[str]:
        path = tmp_path / "program.py"
        path.write_text(text)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("EP_")}
        return subprocess.run(
            [sys.executable, path],
            env=environment | variables,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run
