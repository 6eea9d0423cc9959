"""The report as one HTML page, which needs nothing but itself: no network, no fonts, no libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jinja2

from ep_benchmarks.run.figures import cells, headings, outcome, summary_lines
from ep_benchmarks.run.roofline import plots
from ep_benchmarks.run.row import GOAL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_benchmarks.run.report import Report
    from ep_benchmarks.run.row import Row

__all__ = ["page"]


def page(report: Report) -> str:
    """Return the page."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("ep_benchmarks", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    names = list(report.peers)
    return environment.get_template("page.html.j2").render(
        report=report,
        headings=headings(names),
        rows=[(row, list(zip(cells(row, names), _classes(row, report.goals), strict=True))) for row in report.rows],
        lines=summary_lines(report),
        outcome=outcome(report),
        plots=plots(report),
    )


def _classes(row: Row, goals: Mapping[str, float]) -> list[str]:
    """Return the CSS class of each cell: whether a goal is met."""
    limit = "" if row.fraction is None else "good" if row.fraction >= GOAL else "poor"
    found = ["word", "word", "", "", "", "", limit]
    for peer, goal in goals.items():
        each = row.peers.get(peer)
        found += [""] * 2 if each is None else ["good" if each.p25 >= goal else "poor"] * 2
    return found
