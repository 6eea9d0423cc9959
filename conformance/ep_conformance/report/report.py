"""The report of a run: its summary, its JSON (schema 2, documented in the README) and its one-line verdict."""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ep_conformance import SUITE
from ep_conformance.judge.outcome import Status
from ep_conformance.plan.planned import UNTRIED
from ep_conformance.plan.shard import Shard
from ep_conformance.plan.subject import Subject
from ep_conformance.report.bits import Bits, bits_of
from ep_conformance.run.record import record, verdict_of
from ep_conformance.run.verdict import FIRST_FAILURE, UNAVAILABLE, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SCHEMA", "Report", "heading", "is_special", "report_of", "write_text"]

SCHEMA: Final = 2


@dataclass(frozen=True)
class Report:
    """The verdicts of a run on one device, and how it was made.

    seconds      : how long it took
    interrupted  : it did not come to its end; cases that did not run are missing
    pattern      : globs of `--filter`, with spaces between them; None for all cases
    jobs         : worker processes
    started      : when, in UTC, as ISO 8601 writes it
    peak_memory  : bytes that the largest worker held, None if not measured
    environment  : the result of `environment()`
    bits_of      : the info of the device whose bits results were compared with, as `Subject.device`; None for none
    every        : of each op every Nth element type was chosen
    shard        : the part of the run that this is; None for all of it
    suite        : version of the suite that judged
    """

    subject: Subject
    profile: str
    seed: int
    verdicts: tuple[Verdict, ...]
    seconds: float
    interrupted: bool = False
    pattern: str | None = None
    jobs: int = 1
    started: str = ""
    peak_memory: int | None = None
    environment: Mapping[str, Any] = field(default_factory=dict)
    bits_of: Mapping[str, Any] | None = None
    every: int = 1
    shard: Shard | None = None
    suite: str = SUITE

    @property
    def bits(self) -> Bits | None:
        """What comparing bits with another device gave, None if it was not asked for."""
        return None if self.bits_of is None else bits_of(str(self.bits_of["name"]), self.verdicts)

    @property
    def summary(self) -> dict[str, int]:
        """How many cases were expected, and how many got each status.

        Statuses of expected cases add up to `expected`, and `waived` of them fail without failing the run; `unsupported`
        and `new` count the cases outside it.
        """
        counts = Counter(verdict.status for verdict in self.verdicts)
        return {
            "expected": sum(verdict.counts for verdict in self.verdicts),
            "waived": sum(verdict.waiver is not None for verdict in self.verdicts),
            **{status.key: counts[status] for status in Status},
        }

    @property
    def failures(self) -> tuple[Verdict, ...]:
        """The verdicts that make the run fail."""
        return tuple(verdict for verdict in self.verdicts if verdict.is_failure)

    @property
    def notices(self) -> tuple[Verdict, ...]:
        """The verdicts that a vendor should read, although they count for nothing: those of cases that fail come first."""
        notices = (verdict for verdict in self.verdicts if verdict.notice)
        return tuple(sorted(notices, key=lambda verdict: verdict.is_claimable))

    @property
    def unavailable(self) -> str:
        """Why nothing was judged: all that was expected is missing, because the device was not there; "" in any other run."""
        expected = [verdict for verdict in self.verdicts if verdict.counts]
        if self.interrupted or any(verdict.status is not Status.MISSING for verdict in expected):
            return ""
        reasons = (verdict.outcome.reason for verdict in expected)
        return next((reason for reason in reasons if UNAVAILABLE in reason), "")

    @property
    def is_emulated(self) -> bool:
        """True if a program stood in for the hardware, of which the run proves nothing."""
        return "emulated" in self.subject.device.get("features", ())

    @property
    def unexecuted(self) -> tuple[str, ...]:
        """The provider's implementations by which no case of an emulated run passed; () of a run without such cases."""
        ran = {name for verdict in self.verdicts for name in verdict.outcome.ran}
        if not self.is_emulated or not ran:
            return ()
        return tuple(name for name in self.subject.device.get("implementations", ()) if name not in ran)

    @property
    def leaves_late_errors_untried(self) -> bool:
        """True if cases of late errors were chosen, and the device cannot be asked to fail."""
        return any(verdict.outcome.reason.startswith(UNTRIED) for verdict in self.verdicts)

    @property
    def is_cut_short(self) -> bool:
        """True if the first failure ended the run: --fail-fast."""
        return self.interrupted and any(verdict.outcome.reason == FIRST_FAILURE for verdict in self.verdicts)

    @property
    def is_good(self) -> bool:
        """True if there was something to judge, and to compare if that was asked for, and all of it passed."""
        expected = [verdict for verdict in self.verdicts if verdict.counts]
        was_compared = self.bits is None or self.bits.compared > 0
        is_something = bool(expected) and was_compared
        return (is_something or self._is_small_part) and not self.failures and not self.interrupted

    @property
    def _is_small_part(self) -> bool:
        """True of a part of several, which may have nothing to judge: merging takes all parts, and judges the whole."""
        return self.shard is not None and self.shard.total > 1

    @property
    def exit_code(self) -> int:
        """0 good, 1 failures, 3 device unavailable, 130 interrupted."""
        if self.unavailable:
            return 3
        if self.interrupted and not self.is_cut_short:
            return 130
        return 0 if self.is_good else 1

    @property
    def sentence(self) -> str:
        """The one-line verdict."""
        summary = self.summary
        name = f"{self.subject.provider} {self.subject.version} on {self.subject.name}{', emulated' if self.is_emulated else ''}"
        name += "" if self.shard is None else f", shard {self.shard}"
        if self.unavailable:
            return f"UNAVAILABLE: {name}: none of {summary['expected']} expected cases ran: {self.unavailable}"
        given = f"{summary['expected'] - summary['missing']} of {summary['expected']} expected cases have a verdict"
        if self.is_cut_short:
            return f"FAIL: {name}: ended by --fail-fast at its first failure: {given}"
        if self.interrupted:
            return f"INTERRUPTED: {name}: {given}"
        if not summary["expected"] and not self._is_small_part:
            return f"FAIL: {name}: no case was expected to run, so nothing was shown; choose claimed ones with --filter, or claim some"
        if self.bits is not None and not self.bits.compared and not self.failures and not self._is_small_part:
            return f"FAIL: {name}: no bits were compared with those of {self.bits.other}, so nothing was shown of them; choose others with --filter"
        failing = Counter(verdict.status for verdict in self.failures)
        bad = ", ".join(f"{failing[status]} {status}" for status in Status if failing[status])
        rest = f"{summary['waived']} waived, {summary['unsupported']} unsupported, {summary['new']} new, {len(self.notices)} notices"
        verdict = f"FAIL ({bad})" if bad else "PASS"
        rest += "" if self.bits is None else f"; {self.bits}"
        untried = f"; {UNTRIED}" if self.leaves_late_errors_untried else ""
        if self.unexecuted:
            untried += f"; not executed: {', '.join(self.unexecuted)}"
        return (
            f"{verdict}: {name}: {summary['pass']} of {summary['expected']} expected cases pass "
            f"in {self.seconds:.1f} s; {rest}{untried}"
        )

    @property
    def heading(self) -> dict[str, Any]:
        """The identity of the run, see `heading`."""
        return heading(
            self.subject,
            self.profile,
            self.seed,
            self.pattern,
            bits_of=self.bits_of,
            every=self.every,
            shard=self.shard,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the report as schema 2, which report.schema.json describes."""
        return {
            **self.heading,
            "suite": self.suite,
            "verdict": self.sentence,
            "exit_code": self.exit_code,
            "environment": dict(self.environment),
            "jobs": self.jobs,
            "started": self.started,
            "seconds": round(self.seconds, 3),
            "peak_memory": self.peak_memory,
            "interrupted": self.interrupted,
            "summary": self.summary,
            "bits": None if self.bits is None else self.bits.as_json(),
            "notices": [verdict.id for verdict in self.notices],
            "cases": [record(verdict) for verdict in self.verdicts],
        }

    def write_json(self, path: Path) -> None:
        """Write the report as JSON, one line a case; a file is either the old one or all of the new one."""
        table = self.as_json()
        cases = ",\n".join(f"  {json.dumps(case)}" for case in table.pop("cases"))
        write_text(path, f'{json.dumps(table, indent=1)[:-2]},\n "cases": [\n{cases}\n ]\n}}\n')


def heading(  # noqa: PLR0913 - the parts of an identity
    subject: Subject,
    profile: str,
    seed: int,
    pattern: str | None,
    *,
    bits_of: Mapping[str, Any] | None = None,
    every: int = 1,
    shard: Shard | None = None,
) -> dict[str, Any]:
    """Return the identity of a run, as reports and journals have it: only a run with the same one continues it."""
    return {
        "schema": SCHEMA,
        "suite": SUITE,
        "provider": {"name": subject.provider, "version": subject.version},
        "device": subject.device,
        "profile": profile,
        "seed": seed,
        "filter": pattern,
        "every": every,
        "shard": None if shard is None else str(shard),
        "bits_of": None if bits_of is None else dict(bits_of),
    }


def report_of(table: Mapping[str, Any]) -> Report:
    """Return the report of a JSON object that `as_json` made.

    Raises KeyError, TypeError or ValueError for any other.
    """
    if table["schema"] != SCHEMA:
        message = f"schema {table['schema']!r}, needed {SCHEMA}"
        raise ValueError(message)
    provider, device, other = table["provider"], dict(table["device"]), table.get("bits_of")
    return Report(
        Subject(str(provider["name"]), str(provider["version"]), device | {"name": str(device["name"])}),
        str(table["profile"]),
        int(table["seed"]),
        tuple(map(verdict_of, table["cases"])),
        float(table["seconds"]),
        interrupted=table["interrupted"] is True,
        pattern=table["filter"],
        jobs=int(table["jobs"]),
        started=str(table["started"]),
        peak_memory=table["peak_memory"],
        environment=dict(table["environment"]),
        bits_of=None if other is None else other | {"name": str(other["name"])},
        every=int(table.get("every", 1)),
        shard=None if table.get("shard") is None else Shard.parse(table["shard"]),
        suite=str(table["suite"]),
    )


def write_text(path: Path, text: str) -> None:
    """Write a file through a neighbour, so that a reader never meets half of it; a link stays one.

    What is no file, such as a pipe or /dev/stdout, is written to, and never replaced.
    """
    if is_special(path):
        path.write_text(text, encoding="utf-8", errors="replace")
        return
    target = Path(os.path.realpath(path))
    partial = target.with_name(target.name + ".partial")
    try:
        partial.write_text(text, encoding="utf-8", errors="replace")
        partial.replace(target)
    except OSError:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


def is_special(path: Path) -> bool:
    """Say whether a path is there and no file: a pipe, a terminal, /dev/null."""
    return path.exists() and not path.is_file()
