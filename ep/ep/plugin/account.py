"""An Account is what one plug-in's process answered and how it ended. The answer is untrusted: its form is checked."""

from __future__ import annotations

import json
import signal
from typing import Any, Final

__all__ = ["VERDICTS", "Account", "Excerpt"]

VERDICTS: Final = ("ok", "unavailable", "refused", "broken")
_MOST: Final = 1 << 20
_EXCERPT: Final = 1 << 16
_STAGES: Final = {
    "begin": "its process began",
    "import": "it was imported",
    "probe": "it was probed",
    "devices": "its devices were made",
    "self-check": "the self-check ran",
    "families": "its families were asked for",
    "end": "its process ended",
}
_ROW: Final = {
    "device": str,
    "name": str,
    "vendor": str,
    "driver": str,
    "memory": int,
    "memory_kinds": list,
    "features": list,
    "fingerprint": str,
}


class Excerpt:
    """The first bytes that came through a pipe, and the last ones if `keeps_end`."""

    def __init__(self, most: int, *, keeps_end: bool = False) -> None:
        self._most, self._keeps_end = most, keeps_end
        self._content = bytearray()
        self.is_overfull = False

    def add(self, content: bytes) -> None:
        """Take some more."""
        self._content += content
        if len(self._content) > self._most:
            self.is_overfull = True
            if self._keeps_end:
                del self._content[: -self._most]
            else:
                del self._content[self._most :]

    @property
    def text(self) -> str:
        """What was kept."""
        return self._content.decode(errors="replace")


class Account:
    """The answer of one plug-in's process.

    findings   : (number of the device or -1, verdict, reason, origin, traceback) each
    rows       : a description of each device, as `ep devices --json` prints it
    families   : the names of the families that the plug-in brings
    fault      : how the process failed, "" if it did not; at_device is the device it failed at, or -1
    traceback  : its stderr, "" if it did not fail
    noise      : its stdout
    """

    def __init__(self, name: str, seconds: float) -> None:
        self.answers = Excerpt(_MOST)
        self.stdout = Excerpt(_EXCERPT)
        self.stderr = Excerpt(_EXCERPT, keeps_end=True)
        self.findings: list[tuple[int, str, str, str, str]] = []
        self.rows: list[dict[str, Any]] = []
        self.families: list[str] = []
        self.fault = ""
        self.at_device = -1
        self._name, self._seconds = name, seconds
        self._stage = "begin"

    @property
    def traceback(self) -> str:
        """The end of the process's stderr if it failed, else ""."""
        return self.stderr.text if self.fault else ""

    @property
    def noise(self) -> str:
        """The text that the plug-in printed on stdout, which belongs to the user's output."""
        return self.stdout.text.strip()

    def conclude(self, code: int | None) -> None:
        """Interpret the lines that came. `code` is the exit code of the process, None if it had to be ended."""
        *lines, rest = self.answers.text.split("\n")
        try:
            for line in lines:
                self._take(json.loads(line))
        except (ValueError, TypeError, AttributeError, RecursionError):
            rest = "nonsense"
        if self.answers.is_overfull:
            self.fault = f"its process answered more than {_MOST >> 20} MiB while {_STAGES[self._stage]}"
        elif rest:
            self.fault = f"its process wrote a line that EP cannot read while {_STAGES[self._stage]}"
        elif code is None:
            self.fault = f"hung while {_STAGES[self._stage]}: it was ended after {self._seconds:g} s"
        elif code < 0:
            self.fault = f"crashed while {_STAGES[self._stage]}: {_signal(-code)}"
        elif code or self._stage != "end":
            said = self.stderr.text.strip().rpartition("\n")[2]
            last = f"; it printed last: {said}" if said else ""
            self.fault = f"ended its process with exit code {code} while {_STAGES[self._stage]}{last}"

    def _take(self, line: Any) -> None:
        """Parse one line. Raises ValueError, TypeError or AttributeError for a malformed one."""
        kind, *parts = line
        if kind == "stage":
            stage, self.at_device = parts
            _require(stage in _STAGES and type(self.at_device) is int)
            self._stage = stage
        elif kind == "finding":
            device, verdict, *texts = parts
            _require(type(device) is int and verdict in VERDICTS)
            reason, origin, traceback = texts
            _require(all(type(text) is str for text in texts))
            self.findings.append((device, verdict, reason, origin, traceback))
        elif kind == "device":
            (row,) = parts
            _require(row.keys() == _ROW.keys() and all(type(row[key]) is form for key, form in _ROW.items()))
            _require(all(type(word) is str for word in (*row["features"], *row["memory_kinds"])))
            _require(0 <= row["memory"] < 1 << 63)
            self.rows.append({**row, "device": f"{self._name}:{len(self.rows)}"})
        else:
            _require(kind == "families")
            (self.families,) = parts
            _require(type(self.families) is list and all(type(name) is str for name in self.families))


def _require(is_right: bool) -> None:  # noqa: FBT001 - an assertion that stays
    if not is_right:
        message = "a line of another form"
        raise ValueError(message)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
