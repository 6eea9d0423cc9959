"""Programs in a process of their own: for cases about forks, signals and the end of the process."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Final

from ep_conformance.trial import CaseError

if TYPE_CHECKING:
    from ep_conformance.trial import Trial

__all__ = ["run_alone"]

_SECONDS: Final = 60.0
_BEGIN: Final = """\
import os, signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # the suite's workers leave Ctrl-C to their parent
if hasattr(signal, "pthread_sigmask"):
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
import ep
device = ep.device({name!r})
try:
    stream = device.stream(synchronous=False)
except ep.UnsupportedError:
    stream = device.stream()
"""


def run_alone(trial: Trial, program: str, *, status: int = 0, **variables: str) -> tuple[str, str]:
    """Return what a program printed, on both ways, in a fresh process that has the trial's device.

    program   : Python; `ep`, `device`, an asynchronous `stream`, `os`, `signal` and `threading` are there
    status    : the exit code that it must have
    variables : of the environment

    Fails the case for another exit code, or if it does not end within a minute.
    """
    code = _BEGIN.format(name=trial.device.name) + program
    environment = {**os.environ, **variables}
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        message = f"a process of its own did not end within {_SECONDS:.0f} s; its program:\n{code}"
        raise CaseError(message) from late
    if done.returncode != status:
        message = (
            f"a process of its own ended with {done.returncode}, needed {status}; it said {done.stdout}{done.stderr}"
        )
        raise CaseError(message)
    return done.stdout, done.stderr
