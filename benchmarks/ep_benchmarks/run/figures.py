"""Numbers as tables show them, on the terminal, in Markdown and in HTML alike."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import TYPE_CHECKING, Final

from ep_benchmarks.run.row import GOAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_benchmarks.run.report import Report
    from ep_benchmarks.run.row import Row

__all__ = ["cells", "headings", "outcome", "summary_lines"]

_LONG: Final = 1000
_TENS: Final = 10
_BUSY: Final = 0.5
_LARGE: Final = 2 << 20
"""Bytes from which memory is held to its goal: those of a million elements of the smallest type."""


def headings(peers: Sequence[str]) -> list[str]:
    """Return the columns of the table."""
    each = [text for peer in peers for text in (f"{peer} / EP", "p25")]
    return ["case", "type", "elements", "us", "spread", "speed", "of limit", *each]


def cells(row: Row, peers: Sequence[str]) -> list[str]:
    """Return a row's texts, one a column."""
    given = [row.label, row.dtype, f"{row.size:,}"]
    if not row.us:
        return [*given, *["-"] * (4 + 2 * len(peers))]
    speed = f"{_short(row.speed)} {'GB/s' if row.is_moving else 'GFLOP/s'}"
    limit = "-" if row.fraction is None else f"{row.fraction:.0%}"
    ratios = [text for peer in peers for text in _ratio(row, peer)]
    return [*given, _short(row.us), f"{row.spread:.0%}", speed, limit, *ratios]


def summary_lines(report: Report) -> list[str]:
    """Return the summary, a line a peer, and a line about the limits."""
    lines = [
        f"{name} {report.peers[name]}: geometric mean {each.geomean:.2f} of {each.cases} cases, worst {each.worst:.2f} ({each.worst_case}), p25 below {report.goals[name]:g} in {each.below}"
        for name, each in report.summary.items()
    ]
    large = [row for row in report.rows if row.limit == "memory" and row.read + row.written >= _LARGE]
    lines.extend(_memory_lines([(row.family, row.fraction) for row in large if row.fraction is not None]))
    computed = [row.fraction for row in report.rows if row.limit == "arithmetic" and row.fraction is not None]
    if computed:
        lines.append(
            f"arithmetic: {len(computed)} cases take longer to compute than to move; the median reaches {statistics.median(computed):.0%} of what the quickest makes of elements in caches"
        )
    load = report.machine["load"]
    if load is not None and load > _BUSY:
        lines.append(
            f"{load:.1f} other processes were busy when it began: loops of several threads wait for the slowest, and ratios to them say little"
        )
    return [*lines, f"limits: {_limits(report)}"]


def outcome(report: Report) -> str:
    """Return the verdict in one line."""
    missing = f", {len(report.unsupported)} unsupported" if report.unsupported else ""
    if not report.rows and report.is_whole:
        return f"no sample is supported{missing}"
    wrong = f"{len(report.faults)} disagreements" if report.faults else "all results agree"
    return f"{len(report.rows)} samples measured{missing}; {wrong}{'' if report.is_whole else '; interrupted'}"


def _memory_lines(fractions: Sequence[tuple[str, float]]) -> list[str]:
    """Return how many reach the goal of memory-bound cases, of all and of each family."""
    if not fractions:
        return []
    middle = sorted(fraction for _, fraction in fractions)[len(fractions) // 2]
    near = Counter(family for family, fraction in fractions if fraction >= GOAL)
    each = Counter(family for family, _ in fractions)
    families = ", ".join(f"{family} {near[family]} of {count}" for family, count in sorted(each.items()))
    return [
        f"memory: {near.total()} of {len(fractions)} cases of 2 MiB and more reach 85 % of the limit, the median {middle:.0%}",
        f"memory by family: {families}",
    ]


def _limits(report: Report) -> str:
    limits = report.limits
    largest = [f"{kind} {list(each.values())[-1]:.1f} GB/s" for kind, each in limits["memory"].items()]
    products = [f"{name} {rate:,.0f} GFLOP/s" for name, rate in limits["products"].items()]
    return "; ".join(
        [limits["source"], *([", ".join(largest)] if largest else []), *([", ".join(products)] if products else [])]
    )


def _ratio(row: Row, peer: str) -> tuple[str, str]:
    each = row.peers.get(peer)
    if each is None:
        return ("differs" if any(fault.startswith(f"{peer}:") for fault in row.faults) else "-"), "-"
    return f"{each.ratio:.2f}", f"{each.p25:.2f}"


def _short(number: float) -> str:
    if number >= _LONG:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= _TENS else f"{number:.2f}"
