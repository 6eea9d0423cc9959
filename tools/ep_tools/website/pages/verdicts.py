"""The page of statuses, standings and profiles: the closed sets that a run speaks in."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Final

from ep_conformance.judge.outcome import FAILING, Status
from ep_conformance.plan.planned import Standing
from ep_conformance.plan.profiles import PROFILES

from ep_tools.folders import ROOT
from ep_tools.markdown import escaped, parse
from ep_tools.website.directive import directive

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["page"]

_TABLE: Final = "| status | means | fails the run |"
_HEAD: Final = """# Statuses, standings, profiles

What a run says of each case, why a case is in its plan, and how much data it takes. The README of the suite says how they come
about: [](/rooms/conformance.md).
"""
_PROFILES: Final = "`--profile NAME` chooses how much data. Each profile runs the cases of those before it, too.\n"


def meanings() -> Mapping[str, str]:
    """Return what the README of the suite says of each status."""
    text = (ROOT / "conformance" / "README.md").read_text(encoding="utf-8").partition(_TABLE)[2]
    rows = (line.split(" | ") for line in text.strip().split("\n\n")[0].splitlines() if line.startswith("| `"))
    return {cells[0].strip("|` "): cells[1].rstrip("| ") for cells in rows}


def page() -> str:
    """Return the page. Raises KeyError for a status that the README does not know."""
    lines, means = [_HEAD, "## Statuses\n"], meanings()
    for status in Status:
        consequence = "fails the run" if status in FAILING else "does not fail the run"
        lines += directive(
            "status", status.value, [f"{means[status.value]}. *An expected case that is `{status}` {consequence}.*"]
        )
    lines += ["## Standings\n", "Why a case is in the plan.\n"]
    rules = parse(inspect.getdoc(Standing) or "").rules
    for standing in Standing:
        lines += directive("standing", standing.value, [rules[standing.name]])
    lines += ["## Profiles\n", _PROFILES]
    for place, profile in enumerate(PROFILES):
        before = (
            f"All of {{profile}}`{PROFILES[place - 1]}`, and more."
            if place
            else "The least: a few sizes of every cell."
        )
        lines += directive("profile", profile, [before])
    return "\n".join(escaped(line) if line == "" else line for line in lines)
