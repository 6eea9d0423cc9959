"""The table on the terminal: a line as soon as a sample is measured, the summary at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.text import Text

from ep_benchmarks.run.figures import cells, headings, outcome, summary_lines
from ep_benchmarks.run.row import GOAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ep_benchmarks.run.report import Report
    from ep_benchmarks.run.row import Row

__all__ = ["Table"]

_WIDTHS: Final = (40, 18, 11, 9, 7, 14, 9)
_OF_PEER: Final = (12, 6)
_FIRST_RATIO: Final = 7


class Table:
    """Lines of fixed columns. Its width is its own: a terminal that is narrower wraps."""

    def __init__(self, goals: Mapping[str, float]) -> None:
        """Begin a table.

        goals : by peer, the 25th percentile below which a ratio is behind
        """
        self._goals = goals
        self._peers = peers = list(goals)
        self._console = Console(highlight=False, soft_wrap=True)
        self._widths = (*_WIDTHS, *_OF_PEER * len(peers))

    def begin(self) -> None:
        """Print the headings."""
        self._console.print(self._line(headings(self._peers)), style="bold")

    def add(self, row: Row) -> None:
        """Print a row, and what is wrong with it."""
        texts = [Text(text) for text in cells(row, self._peers)]
        if row.fraction is not None and row.us:
            texts[_FIRST_RATIO - 1].stylize("green" if row.fraction >= GOAL else "yellow")
        for place, peer in enumerate(self._peers):
            if peer in row.peers:
                style = "green" if row.peers[peer].p25 >= self._goals[peer] else "red"
                texts[_FIRST_RATIO + 2 * place].stylize(style)
        self._console.print(self._line(texts))
        for fault in row.faults:
            self._console.print(Text(f"  disagreement: {fault}", style="red"))

    def end(self, report: Report) -> None:
        """Print the summary and the verdict."""
        for case in report.unsupported:
            self._console.print(Text(f"unsupported: {case}", style="dim"))
        for line in summary_lines(report):
            self._console.print(Text(line))
        self._console.print(Text(outcome(report), style="red" if report.faults else "green"))

    def _line(self, texts: Sequence[str | Text]) -> Text:
        line = Text()
        for place, (text, width) in enumerate(zip(texts, self._widths, strict=True)):
            each = Text(text) if isinstance(text, str) else text
            room = " " * max(0, width - len(each))
            line = line + each + room if place < 2 else line + " " + room + each  # noqa: PLR2004 - words stand left, numbers right
            line += " " if place == 1 else ""
        return line
