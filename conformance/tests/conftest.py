"""Fixtures: `ep-conformance` as a user runs it, with packages of the test's own installed."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ep_conformance.report.schema import problems

TOY = Path(__file__).parent / "toy"


def telling(cases):
    """Return the cases that the schema has to be tried on: of those like a thousand others only the first."""
    return [case for at, case in enumerate(cases) if at < 100 or case["status"] not in {"pass", "unsupported"}]


class Command:
    """Runs `ep-conformance` in a process of its own, with a folder of packages in front and an empty cache."""

    def __init__(self, folder: Path, seconds: float = 120) -> None:
        self.folder = folder
        self.seconds = seconds
        self.packages = folder / "packages"
        self.report = folder / "report.json"
        cache = folder / "cache"
        cache.mkdir()
        self.environment = os.environ | {
            "PYTHONPATH": str(self.packages),
            "XDG_CACHE_HOME": str(cache),
            "EP_TOY_MARK": str(folder / "mark"),
        }

    def arguments(self, *words):
        return [sys.executable, "-m", "ep_conformance", *map(str, words)]

    def __call__(self, *words, **environment):
        return subprocess.run(
            self.arguments(*words),
            env=self.environment | environment,
            capture_output=True,
            text=True,
            timeout=self.seconds,
            check=False,
        )

    def on_a_full_disk(self, *words, **given):
        """Run it where no file grows beyond 2,000 bytes; bytecode, which Python would leave torn there, is not written."""

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))

        return subprocess.run(
            self.arguments(*words),
            env=self.environment | {"PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=limit,
            **given,
        )

    def run(self, provider, *words, **environment):
        """Run the quick profile and return the process, with its report as `json`."""
        self.report.unlink(missing_ok=True)
        done = self("run", "--provider", provider, "--quick", "--json", self.report, *words, **environment)
        done.json = json.loads(self.report.read_text()) if self.report.exists() else None
        if done.json is not None:
            assert [*problems(done.json | {"cases": telling(done.json["cases"])})] == []
        return done


@pytest.fixture
def command(tmp_path):
    return Command(tmp_path)


@pytest.fixture(scope="module")
def long_command(tmp_path_factory):
    """The command for what several tests look at: one run, in a folder that lasts as long as they do."""
    return Command(tmp_path_factory.mktemp("long"), seconds=600)


@pytest.fixture
def toy(command):
    """The command with the toy provider installed; EP_TOY=... says how it misbehaves."""
    shutil.copytree(TOY, command.packages)
    return command


@pytest.fixture(scope="module")
def shared_toy(tmp_path_factory):
    """The same for all tests of a module, which leave what it has made alone."""
    made = Command(tmp_path_factory.mktemp("shared"))
    shutil.copytree(TOY, made.packages)
    return made


@pytest.fixture
def _interruptible():
    """A shell starts background jobs deaf to SIGINT, and children inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
