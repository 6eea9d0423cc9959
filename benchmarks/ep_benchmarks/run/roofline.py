"""Roofline plots: what a launch reaches against its operations a byte, below the roofs that the machine has."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_benchmarks.run.row import GOAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ep_benchmarks.run.report import Report
    from ep_benchmarks.run.row import Row

__all__ = ["Plot", "plots"]

_WIDTH: Final = 720.0
_HEIGHT: Final = 360.0
_LEFT, _BOTTOM, _MARGIN = 64.0, 40.0, 16.0


class Plot(NamedTuple):
    """A plot with logarithmic axes, in places of an SVG of WIDTH x HEIGHT.

    roofs  : polylines, each with its text: the bandwidth up to the products' ceiling
    points : x, y, text and whether it reaches 85 % of its limit
    x, y   : places and texts of the axes' ticks
    """

    title: str
    roofs: list[tuple[str, str]]
    points: list[tuple[float, float, str, bool]]
    x: list[tuple[float, str]]
    y: list[tuple[float, str]]
    width: float = _WIDTH
    height: float = _HEIGHT


def plots(report: Report) -> list[Plot]:
    """Return a plot for each ceiling of products, with the rows of the types that it holds for, and one of GB/s for all."""
    copies = report.limits["memory"].get("copy", {})
    slowest = min(copies.values(), default=0.0)
    found = [
        _roofline(report.rows, name, float(rate), slowest)
        for name, rate in report.limits["products"].items()
        if slowest
    ]
    return [plot for plot in (*found, _bandwidth(report)) if plot is not None and plot.points]


def _roofline(rows: Iterable[Row], unit: str, ceiling: float, bandwidth: float) -> Plot | None:
    points = []
    for row in rows:
        nbytes = row.read + row.written
        of_unit = row.dtype.partition("->")[0].partition(",")[0] == unit
        if of_unit and row.us and nbytes and row.flops and row.size > 1:
            points.append((row.flops / nbytes, row.flops / row.us / 1e3, row))
    if not points:
        return None
    low = min(0.05, *(x for x, _, _ in points))
    high = max(2 * ceiling / bandwidth, *(x for x, _, _ in points))
    across = _Axis(low, high, _LEFT, _WIDTH - _MARGIN)
    up = _Axis(min(y for _, y, _ in points) / 2, ceiling * 2, _HEIGHT - _BOTTOM, _MARGIN)
    knee = ceiling / bandwidth
    begin = max(low, up.low / bandwidth)
    line = [(begin, begin * bandwidth), (knee, ceiling), (high, ceiling)]
    roof = " ".join(f"{across.at(x):.1f},{up.at(y):.1f}" for x, y in line)
    return Plot(
        f"{unit}: GFLOP/s by operations a byte; copies of {bandwidth:.0f} GB/s, products of {ceiling:,.0f} GFLOP/s",
        [(roof, "the limit from memory")],
        [(across.at(x), up.at(y), _text(row), _is_near(row)) for x, y, row in points],
        across.ticks(),
        up.ticks(),
    )


def _bandwidth(report: Report) -> Plot | None:
    """Return GB/s by bytes, below copies, sums, reads and fills."""
    points = [
        (row.read + row.written, row)
        for row in report.rows
        if row.us and row.is_moving and row.read + row.written >= _SMALL
    ]
    if not points:
        return None
    roofs = {kind: [(int(at), speed) for at, speed in each.items()] for kind, each in report.limits["memory"].items()}
    speeds = [row.speed for _, row in points] + [speed for each in roofs.values() for _, speed in each]
    across = _Axis(_SMALL, max(nbytes for nbytes, _ in points) * 2, _LEFT, _WIDTH - _MARGIN)
    up = _Axis(min(speeds) / 2, max(speeds) * 2, _HEIGHT - _BOTTOM, _MARGIN)
    return Plot(
        "memory: GB/s by bytes that a launch reads and writes",
        [(" ".join(f"{across.at(x):.1f},{up.at(y):.1f}" for x, y in each), kind) for kind, each in roofs.items()],
        [(across.at(nbytes), up.at(row.speed), _text(row), _is_near(row)) for nbytes, row in points],
        across.ticks(),
        up.ticks(),
    )


_SMALL: Final = 4096


class _Axis:
    """A logarithmic axis from `low` to `high` between two places."""

    def __init__(self, low: float, high: float, begin: float, end: float) -> None:
        self.low, self.high = low, high
        self._begin, self._end = begin, end

    def at(self, value: float) -> float:
        share = math.log(max(value, 1e-12) / self.low) / math.log(self.high / self.low)
        return round(self._begin + share * (self._end - self._begin), 1)

    def ticks(self) -> list[tuple[float, str]]:
        """Return the powers of ten, of a long axis every third one."""
        powers: list[Any] = list(range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1))
        return [(self.at(10.0**power), f"{10.0**power:g}") for power in powers]


def _text(row: Row) -> str:
    limit = "" if row.fraction is None else f", {row.fraction:.0%} of the limit"
    return (
        f"{row.label} {row.dtype}: {row.us:,.2f} us, {row.speed:,.1f} {'GB/s' if row.is_moving else 'GFLOP/s'}{limit}"
    )


def _is_near(row: Row) -> bool:
    return row.fraction is not None and row.fraction >= GOAL
