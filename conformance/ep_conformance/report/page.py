"""The report of a run as one HTML page, which needs nothing but itself: no network, no fonts, no libraries."""

from __future__ import annotations

import functools
import json
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from ep_conformance.coverage.met import met
from ep_conformance.judge.outcome import Status
from ep_conformance.plan.place import Place
from ep_conformance.report.columns import columns, counts
from ep_conformance.report.groups import grouped
from ep_conformance.report.report import Report, write_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ep_conformance.run.verdict import Verdict

__all__ = ["page_text", "write_page"]

_SCRIPTS: Final = (
    "data.js",
    "elements.js",
    "matrix.js",
    "filters.js",
    "plots.js",
    "rankings.js",
    "cases.js",
    "page.js",
)
_MOST_GROUPS: Final = 60
_MOST_CASES: Final = 4
_MOST_NOTICES: Final = 40
_STEP: Final = 1024.0


def write_page(report: Report, path: Path, folder: Path | None = None) -> None:
    """Write the report as one HTML file.

    folder : from which the report names replay files, None if that is the file's own
    """
    beside = None if folder is None else os.path.relpath(folder.absolute(), path.absolute().parent)
    write_text(path, page_text(report, beside))


def page_text(report: Report, folder: str | None = None) -> str:
    """Return the page. Whatever a vendor's text holds, it is shown as text.

    folder : from which the report names replay files, relative to the page, None if the page lies there
    """
    # An environment a call: a page is made once a run, and nothing is to be shared with another's.
    loader = jinja2.PackageLoader("ep_conformance", "templates/report")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "size": _size,
        "count": _count,
        "duration": _duration,
        "address": functools.partial(_address, folder or "."),
    }
    template = environment.get_template("page.html.j2")
    groups = grouped(report.failures)
    return template.render(
        report=report,
        device={name: report.subject.device[name] for name in ("name", "model")} | report.subject.device,
        word=report.sentence.partition(":")[0],
        counts=counts(report.verdicts),
        groups=groups[:_MOST_GROUPS],
        hidden_groups=len(groups) - len(groups[:_MOST_GROUPS]),
        most_cases=_MOST_CASES,
        notices=_cells(report.notices),
        most_notices=_MOST_NOTICES,
        waived=Counter(verdict.waiver for verdict in report.verdicts if verdict.waiver is not None).most_common(),
        degraded=_degraded(report.verdicts),
        coverage=met((each.id for each in report.verdicts if each.status is Status.PASS), report.profile),
        style=_source(loader, environment, "page.css"),
        scripts=[_source(loader, environment, name) for name in _SCRIPTS],
        data=_script_safe({"provider": report.subject.provider, **columns(report.verdicts)}),
    )


def _source(loader: jinja2.PackageLoader, environment: jinja2.Environment, name: str) -> Markup:
    return Markup(loader.get_source(environment, name)[0])  # noqa: S704 - a file of this package


def _script_safe(value: Any) -> Markup:
    """Return JSON that ends no <script> and opens no comment, whatever texts it holds."""
    text = json.dumps(value, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 - no sign of HTML is left in it


def _cells(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    """Return verdicts by cell."""
    found: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        found.setdefault(Place.of(verdict.id).cell, []).append(verdict)
    return found


def _degraded(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Return in how many cases each ability was served by a default of EP."""
    found: dict[str, int] = {}
    for verdict in verdicts:
        for ability in verdict.outcome.degraded:
            found[ability] = found.get(ability, 0) + 1
    return dict(sorted(found.items()))


def _size(nbytes: int | None) -> str:
    """Return bytes as a reader says them."""
    if nbytes is None:
        return "not measured"
    size = float(nbytes)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < _STEP or unit == "GiB":
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= _STEP
    raise AssertionError


def _duration(seconds: float) -> str:
    """Return seconds as a reader says them."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"


def _count(number: int) -> str:
    return f"{number:,}"


def _address(folder: str, path: str) -> str:
    """Return the address of a file in a folder, relative to the page, so that it names neither scheme nor host.

    Empty for a path that begins at a root, which is of one machine.
    """
    if path.startswith("/") or Path(path).is_absolute():
        return ""
    return "./" + quote(Path(os.path.normpath(Path(folder, path))).as_posix(), safe="/")
