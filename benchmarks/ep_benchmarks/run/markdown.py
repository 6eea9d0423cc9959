"""The report as Markdown: docs/reports/performance.md is one, of `make bench`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_benchmarks.run.figures import cells, headings, outcome, summary_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ep_benchmarks.run.report import Report

__all__ = ["markdown"]

_INTRODUCTION: Final = """\
Every row is a sample: a computation of a size and with contents that programs have, judged against its family's reference before it is timed. EP runs
as a bound step, peers in their fastest form ({form}), limits are {limits}; all take turns in one
process, {rounds} rounds, up to three times as many, for ten seconds, while one of them spreads by more than a tenth, or 3 where one takes a second. A ratio is the
peer's time over EP's, so above 1 EP is faster; p25 is its 25th percentile over the paired rounds. *Of limit* is
the limit's time over EP's. Ratios carry over to other machines, times do not. `{command}` measures again."""
_COMMANDS: Final = {"cpu": "make bench", "opencl": "make bench-opencl"}
"""By provider, what writes its page."""


def markdown(report: Report) -> str:
    """Return the page."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    is_host = bool(report.limits["memory"])
    yield "# Performance" if report.provider == "cpu" else f"# Performance of {report.provider}"
    yield ""
    yield _INTRODUCTION.format(
        rounds=report.rounds,
        form="`out=`, the same number of threads" if is_host else "the same device, waited for once a turn, as EP is",
        limits="loops that do as much and nothing else" if is_host else "copies within the device of as many bytes",
        command=_COMMANDS.get(report.provider, f"ep-bench run --provider {report.provider}"),
    )
    yield ""
    machine, device = report.machine, report.device
    versions = [f"{name} {each}" for name, each in report.peers.items()]
    yield f"- measured {report.date} on {device['model']}, {machine['cores']} cores, with as many threads as {device['name']} has compute units: {device['compute_units']}; {machine['system']}"
    yield f"- {device['name']} ({device['driver']}) of EP {machine['ep']}; Python {machine['python']}{''.join(f', {each}' for each in versions)}"
    for line in (*summary_lines(report), outcome(report)):
        yield f"- {_escaped(line)}"
    columns = headings(list(report.peers))
    for family in dict.fromkeys(row.family for row in report.rows):
        yield ""
        yield f"## {family}"
        yield ""
        yield _line(columns)
        yield _line(["---", "---", *["---:"] * (len(columns) - 2)])
        for row in report.rows:
            if row.family == family:
                yield _line(cells(row, list(report.peers)))
    yield from _listed("Disagreements", report.faults)
    yield from _listed("Unsupported", report.unsupported.items())


def _listed(title: str, entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    lines = [f"- `{case}`: {_escaped(text)}" for case, text in entries]
    if lines:
        yield from ("", f"## {title}", "", *lines)


def _line(texts: Iterable[str]) -> str:
    return f"| {' | '.join(_escaped(text) for text in texts)} |"


def _escaped(text: str) -> str:
    for sign in "\\|*_[]<":
        text = text.replace(sign, f"\\{sign}")
    return text
