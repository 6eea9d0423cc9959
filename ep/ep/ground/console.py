"""How a command begins and ends: whatever its standard streams are, its user gets an exit code and never a traceback."""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path
from typing import Final, NoReturn

__all__ = ["begin", "end"]

_STREAMS: Final = {"stdin": "r", "stdout": "w", "stderr": "w"}
"""In the order of their descriptors, each with its mode."""


def begin() -> None:
    """Give the process all three standard streams: a closed one reads and writes nothing, what a terminal cannot show is escaped.

    Processes that this one starts inherit them: else the first pipe or file that they open has a standard stream's
    descriptor, and whoever prints writes into it.

    SIGTERM and SIGHUP become a KeyboardInterrupt, unless they are ignored, as under nohup: a command ends as by Ctrl-C, with
    what it has so far, and its processes with it.
    """
    for ending in {signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}:  # not every system has the latter
        if signal.getsignal(ending) is signal.SIG_DFL:
            signal.signal(ending, signal.default_int_handler)
    for name, mode in _STREAMS.items():
        if getattr(sys, name) is None:
            opened = Path(os.devnull).open(mode)  # noqa: SIM115 - for as long as the process
            os.set_inheritable(opened.fileno(), True)  # noqa: FBT003 - it has no name
            setattr(sys, name, opened)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names are of any language, terminals are not


def end(code: int) -> NoReturn:
    """Exit with `code`; text that a full disk or a pipe without a reader does not take is dropped.

    Without this, the interpreter tries once more as it ends, reports that in lines of its own and exits with 120.
    """
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
