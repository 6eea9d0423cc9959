"""The report of a run as JUnit XML, for the machines that read it.

There is no standard of it; this is what Jenkins' schema (junit-10.xsd of its xUnit plug-in) allows, of which GitLab and the
actions of GitHub read a part: GitLab the case's classname, name, time, and the text of failures; it takes files below 30 MB.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

from ep_conformance.judge.outcome import DEATHS, Status
from ep_conformance.report.report import Report, write_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ep_conformance.run.verdict import First, Verdict

__all__ = ["write_junit"]

_ERRORS: Final = DEATHS | {Status.MISSING}
_NOT_XML: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONGEST: Final = 200
_SECONDS: Final = len("2026-11-21T10:00:00")


def write_junit(report: Report, path: Path) -> None:
    """Write one testsuite, with a testcase for each case.

    Failures are <failure>; crashes, hangs, lost devices and missing cases <error>; uncounted and waived ones <skipped>. What the
    first try showed is <flakyFailure> of a case that passed then, else <rerunFailure>.
    """
    failing = report.failures
    errors = sum(verdict.status in _ERRORS for verdict in failing)
    counts = {
        "tests": str(len(report.verdicts)),
        "failures": str(len(failing) - errors),
        "errors": str(errors),
        "time": f"{report.seconds:.3f}",
    }
    tree = ET.Element("testsuites", counts | {"name": "ep-conformance"})
    skipped = sum(not verdict.counts or verdict.waiver is not None for verdict in report.verdicts)
    name = _clean(f"ep-conformance.{report.subject.name}")
    suite = ET.SubElement(tree, "testsuite", counts | {"name": name, "skipped": str(skipped)})
    if report.started:
        suite.set("timestamp", report.started[:_SECONDS])  # without the zone: so their schemas want it
    properties = ET.SubElement(suite, "properties")
    for key, value in _properties(report):
        ET.SubElement(properties, "property", name=key, value=_clean(value))
    suite.extend(map(_testcase, report.verdicts))
    ET.indent(tree, "")
    write_text(path, ET.tostring(tree, encoding="unicode", xml_declaration=True) + "\n")


def _properties(report: Report) -> Iterator[tuple[str, str]]:
    yield "verdict", report.sentence
    yield "exit_code", str(report.exit_code)
    yield "provider", f"{report.subject.provider} {report.subject.version}"
    yield "suite", report.suite
    yield "profile", report.profile
    yield "seed", str(report.seed)
    yield "filter", "" if report.pattern is None else report.pattern
    yield "jobs", str(report.jobs)
    if report.peak_memory is not None:
        yield "peak_memory", str(report.peak_memory)
    for key, value in report.subject.device.items():
        yield f"device.{key}", " ".join(map(str, value)) if isinstance(value, list) else str(value)
    for key, value in report.environment.items():
        inner = value.items() if isinstance(value, dict) else (("", value),)
        yield from ((f"environment.{name or key}", str(each)) for name, each in inner)


def _testcase(verdict: Verdict) -> ET.Element:
    area, _, name = _clean(verdict.id).rpartition("/")
    case = ET.Element("testcase", classname=area.replace("/", "."), name=name, time=f"{verdict.outcome.seconds:.6f}")
    reason = verdict.outcome.reason
    if verdict.is_failure:
        tag = "error" if verdict.status in _ERRORS else "failure"
        _say(case, tag, reason or str(verdict.status), reason, str(verdict.status))
        if verdict.first is not None:
            _first(case, verdict.status, verdict.first)
    elif verdict.waiver is not None:
        _say(case, "skipped", f"waived {verdict.status}: {verdict.waiver}", reason)
    elif not verdict.counts:
        _say(case, "skipped", f"{verdict.status}: {reason}" if reason else str(verdict.status), "")
    return case


def _first(case: ET.Element, status: Status, first: First) -> None:
    """Say what the first try showed, as Maven Surefire does of tests that it runs again."""
    kind = "flaky" if status is Status.FLAKY else "rerun"
    tag = f"{kind}{'Error' if first.status in _ERRORS else 'Failure'}"
    _say(case, tag, f"first try, {first.status}: {first.reason}", first.reason, str(first.status))


def _say(case: ET.Element, tag: str, message: str, text: str, kind: str | None = None) -> None:
    line = _clean(message).split("\n", 1)[0]
    line = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 4]} ..."
    said = ET.SubElement(case, tag, message=line)
    said.text = _clean(text) or None
    if kind is not None:
        said.set("type", kind)


def _clean(text: str) -> str:
    """Return text less the signs that XML cannot hold."""
    return _NOT_XML.sub("?", text)
