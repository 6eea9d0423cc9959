"""False alarms: run the suite on a provider that is right, seed after seed, and say which cases fail it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ep

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Alarms", "false_alarms"]

_ENDING_SECONDS: Final = 10.0


class Alarms(NamedTuple):
    """What one seed showed.

    cases  : how many were expected to pass
    alarms : case id to status and reason, of those that did not
    """

    seed: int
    cases: int
    seconds: float
    alarms: dict[str, str]


def false_alarms(provider: str, seeds: int, packages: Path | None, words: list[str]) -> Iterator[Alarms]:
    """Yield what `ep-conformance run` shows of a provider for each of the seeds 0, 1, 2 and so on.

    packages : folder that the provider is installed in beside the usual places, None for those alone
    words    : more arguments of the run, such as --quick

    Raises UnavailableError, with what it said, if a run leaves no report.
    """
    paths = filter(None, [str(packages or ""), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    for seed in range(seeds):
        with tempfile.TemporaryDirectory(prefix="ep-selftest-") as folder:
            report = Path(folder) / "report.json"
            asked = ["run", "--provider", provider, "--seed", str(seed), "--json", str(report), *words]
            done = _run(asked, {**environment, "XDG_CACHE_HOME": folder})
            if not report.exists():
                message = f"the run with seed {seed} left no report; it said: {done.strip()[-600:]}"
                raise ep.UnavailableError(message)
            yield _alarms(seed, json.loads(report.read_text(encoding="utf-8")))


def _run(asked: list[str], environment: dict[str, str]) -> str:
    """Run the command to its end and return what it said; interrupted, let it end itself, workers and folder included."""
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", "ep_conformance", *asked],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            said, complaint = process.communicate()
        except BaseException:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=_ENDING_SECONDS)
            process.kill()
            raise
    return complaint or said


def _alarms(seed: int, report: dict[str, Any]) -> Alarms:
    counted = [case for case in report["cases"] if case["counts"]]
    wrong = {case["id"]: f"{case['status']}: {case['reason']}" for case in counted if case["status"] != "pass"}
    return Alarms(seed, len(counted), report["seconds"], wrong)
