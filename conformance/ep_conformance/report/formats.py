"""The formats that a report is written in, beside JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep_conformance.report.junit import write_junit
from ep_conformance.report.markdown import write_markdown

if TYPE_CHECKING:
    from pathlib import Path

    from ep_conformance.report.report import Report

__all__ = ["write_formats"]


def write_formats(
    report: Report, folder: Path, *, html: Path | None, markdown: Path | None, junit: Path | None
) -> None:
    """Write a report in each format that has a file. Raises OSError for one that cannot be written.

    folder : from which the report names replay files
    """
    if html is not None:
        from ep_conformance.report.page import write_page  # noqa: PLC0415 - jinja2 is loaded only where a page is made

        write_page(report, html, folder)
    if markdown is not None:
        write_markdown(report, markdown)
    if junit is not None:
        write_junit(report, junit)
