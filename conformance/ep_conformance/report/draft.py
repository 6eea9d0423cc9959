"""What lies on disk of a run that is going on: its journal, and every so often the report as far as it goes."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING, Any, Final

from ep_conformance.report.journal import Journal, journal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from ep_conformance.report.report import Report
    from ep_conformance.run.verdict import Verdict

__all__ = ["Draft", "finish"]

_SAVE_SECONDS: Final = 30.0
_SHARE: Final = 50
"""A report that took a second to write is not written again for this many."""


class Draft:
    """Keeps the verdicts of a run so far. If the disk cannot be written, the draft is lost, but the run goes on."""

    def __init__(self, path: Path, report: Callable[[], Report], tell: Callable[[str], None]) -> None:
        """Begin a draft.

        path    : of the report
        report  : gives the report as far as it goes
        tell    : says a sentence to the user
        """
        self._path = path
        self._report = report
        self._tell = tell
        self._journal: Journal | None = None
        self._next = 0.0

    def begin(self, heading: Mapping[str, Any], known: Iterable[Verdict]) -> None:
        """Write the journal with the verdicts so far, and a report in which the rest is missing."""
        path = journal_of(self._path)
        try:
            self._journal = Journal(path, heading, known)
        except OSError as error:
            self._tell(f"{path} cannot be written ({error.strerror}): if this run is killed, it cannot be resumed")
        self._save()

    def hear(self, verdict: Verdict) -> None:
        """Keep a verdict."""
        if self._journal is not None:
            try:
                self._journal.write(verdict)
            except OSError as error:
                self._tell(
                    f"{journal_of(self._path)} takes no more ({error.strerror}): if this run is killed, "
                    f"--resume {shlex.quote(str(self._path))} continues from here"
                )
                self._journal.close()
                self._journal = None
        if time.monotonic() > self._next:
            self._save()

    def close(self) -> None:
        """Write no more; what was written is there."""
        if self._journal is not None:
            self._journal.close()

    def _save(self) -> None:
        begin = time.monotonic()
        try:
            self._report().write_json(self._path)
        except OSError as error:
            self._tell(f"{self._path} cannot be written ({error.strerror}); it is tried again at the end")
            self._next = float("inf")
            return
        now = time.monotonic()
        self._next = now + max(_SAVE_SECONDS, _SHARE * (now - begin))


def finish(path: Path, report: Report) -> None:
    """Write the whole report, and remove its journal then. Raises OSError if the report cannot be written."""
    report.write_json(path)
    journal_of(path).unlink(missing_ok=True)
