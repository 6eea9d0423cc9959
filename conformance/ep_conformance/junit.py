"""The report of a run as JUnit XML, for the machines that read it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

from ep_conformance.report import Report, write_text
from ep_conformance.verdict import DEATHS, Status, Verdict

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["write_junit"]

_ERRORS: Final = DEATHS | {Status.MISSING}
_NOT_XML: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(report: Report, path: Path) -> None:
    """Write one testsuite: failures are <failure>, crashes, hangs and missing ones <error>, uncounted and waived ones <skipped>."""
    failing = report.failures
    errors = sum(verdict.status in _ERRORS for verdict in failing)
    suite = ET.Element(
        "testsuite",
        name=f"ep-conformance.{report.subject.name}",
        tests=str(len(report.verdicts)),
        failures=str(len(failing) - errors),
        errors=str(errors),
        skipped=str(sum(not verdict.counts or verdict.waiver is not None for verdict in report.verdicts)),
        time=f"{report.seconds:.3f}",
    )
    for verdict in report.verdicts:
        suite.append(_testcase(verdict))
    tree = ET.Element("testsuites")
    tree.append(suite)
    ET.indent(tree)
    write_text(path, ET.tostring(tree, encoding="unicode", xml_declaration=True) + "\n")


def _testcase(verdict: Verdict) -> ET.Element:
    area, _, name = verdict.id.rpartition("/")
    case = ET.Element("testcase", classname=area.replace("/", "."), name=name, time=f"{verdict.outcome.seconds:.6f}")
    reason = _NOT_XML.sub("?", verdict.outcome.reason)
    if verdict.is_failure:
        tag = "error" if verdict.status in _ERRORS else "failure"
        ET.SubElement(case, tag, type=str(verdict.status), message=reason.split("\n", 1)[0]).text = reason
    elif verdict.waiver is not None:
        ET.SubElement(
            case, "skipped", message=_NOT_XML.sub("?", f"waived {verdict.status}: {verdict.waiver}")
        ).text = reason
    elif not verdict.counts:
        ET.SubElement(case, "skipped", message=f"{verdict.status}: {reason}")
    return case
