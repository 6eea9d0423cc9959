"""Handlers, finalizers and Ctrl-C inside random programs on every provider: each storm in a process of its own."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from collections import Counter
from typing import Final

from ep_tools.folders import TOOLS

DEVICES: Final = ("cpu:0", "opencl:0", "sim:0")
MODES: Final = ("sync", "async")
KINDS: Final = ("checkpoint", "collect", "break")
"""What interrupts; see storm.py."""
_SECONDS: Final = 5.0  # of a storm
_SLACK: Final = 90.0  # more, and it hangs


def attack(seconds: float, seed: int) -> Counter[str]:
    """Let storms blow for so long, each kind at least once, and return what was compared, by device and kind.

    Raises AssertionError, with the command that repeats it, at the first that fails or hangs.
    """
    counts: Counter[str] = Counter()
    end = time.monotonic() + seconds
    for number, (device, mode, kind) in enumerate(itertools.cycle(itertools.product(DEVICES, MODES, KINDS))):
        if number >= len(DEVICES) * len(MODES) * len(KINDS) and time.monotonic() > end:
            return counts
        for what, count in _storm(device, mode, kind, seed + number).items():
            counts[f"{device} {kind}: {what}"] += count
    return counts


def _storm(device: str, mode: str, kind: str, seed: int) -> dict[str, int]:
    command = [sys.executable, "-m", "ep_tools.attack.storm", device, mode, kind, f"{_SECONDS:g}", str(seed)]
    repeat = f"PYTHONPATH=tools {' '.join(['python', *command[1:]])}"
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            command,
            cwd=TOOLS,
            capture_output=True,
            text=True,
            timeout=_SECONDS + _SLACK,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        message = f"hangs: {repeat}"
        raise AssertionError(message) from late
    if done.returncode:
        message = f"ended with {done.returncode}: {repeat}\n{done.stderr[-2000:]}"
        raise AssertionError(message)
    counts: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return counts
