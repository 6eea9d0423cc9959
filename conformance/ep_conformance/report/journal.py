"""The journal of a run: one line for each settled verdict, on disk at once, in case the run is killed."""

from __future__ import annotations

import contextlib
import fcntl
import json
from typing import IO, TYPE_CHECKING, Any, Final

from ep_conformance.run.record import record
from ep_conformance.untrusted import read_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from ep_conformance.run.verdict import Verdict

__all__ = ["BusyError", "Journal", "journal_of", "read_journal", "report_of_journal"]

_SUFFIX: Final = ".journal"


def journal_of(report: Path) -> Path:
    """Return where the journal of a report lies while the report is not whole."""
    return report.with_name(report.name + _SUFFIX)


def report_of_journal(journal: Path) -> Path:
    """Return the path of a journal's report; a path that is no journal by its name is the report itself."""
    return journal.with_name(journal.name.removesuffix(_SUFFIX) or journal.name)


class BusyError(Exception):
    """Another run writes the journal; the message says which."""


class Journal:
    """Appends verdicts to a file: a first line that identifies the run, then one line for each verdict, flushed."""

    def __init__(self, path: Path, heading: Mapping[str, Any], known: Iterable[Verdict]) -> None:
        """Begin a journal with the known verdicts; an existing journal is replaced once this one has all of them.

        Raises OSError if it cannot be written, BusyError while another run writes it.
        """
        partial = path.with_name(path.name + ".partial")
        with contextlib.suppress(FileNotFoundError), path.open("rb") as before:
            _lock(before, path)
        self._file: IO[str] = partial.open("a", encoding="utf-8")
        try:
            _lock(self._file, path)
            self._file.truncate(0)
            for line in (heading, *map(record, known)):
                self._file.write(_line(line))
            self._file.flush()
            partial.replace(path)
        except (OSError, BusyError):
            self.close()
            raise

    def write(self, verdict: Verdict) -> None:
        """Append a verdict. Raises OSError if it cannot be written; what was written before stays readable."""
        self._file.write(_line(record(verdict)))
        self._file.flush()

    def close(self) -> None:
        """Leave the file as it is; what was written is there."""
        try:
            self._file.close()
        except OSError:  # the rest of a line that did not fit
            return


def read_journal(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the heading of a journal and its records; a last line that is torn was never settled.

    Raises FileNotFoundError if there is none, ValueError for a file that is no journal.
    """
    text = path.read_bytes()
    head, *lines = map(read_json, text[: text.rfind(b"\n") + 1].splitlines() or [b""])
    return head, lines


def _lock(file: IO[Any], path: Path) -> None:
    """Keep a file to this process, as long as it is open."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        message = f"{path} is written by another run at this moment; wait for its end, or give --json another file"
        raise BusyError(message) from None
    except OSError:  # a file system without locks
        return


def _line(table: Mapping[str, Any]) -> str:
    return json.dumps(table, allow_nan=False, separators=(",", ":")) + "\n"
