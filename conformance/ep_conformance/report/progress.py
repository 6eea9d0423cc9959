"""Live progress of a run: a bar on a terminal, failures as they come, plain lines elsewhere."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import Console

    from ep_conformance.judge.outcome import Status
    from ep_conformance.run.verdict import Verdict

__all__ = ["Live"]

_MOST_SHOWN: Final = {"notice": 10, "failing notice": 10, "waiver": 10, "failure": 40}
_WORDS: Final = {"notice": "notice", "failing notice": "notice", "waiver": "waived"}
_LINES: Final = 8


class Live:
    """Shows verdicts as they come. The first failures in full; of a great many only their number.

    Notices of cases that pass come at the end, so that those of cases that fail are not lost among them.
    """

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._counts: Counter[Status] = Counter()
        self._shown: Counter[str] = Counter()
        self._claimable: list[Verdict] = []
        self._progress = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )  # fmt: skip - one line a thought
        self._task = self._progress.add_task("", total=total)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()
        for verdict in self._claimable:
            self._show("notice", verdict)
        self._claimable.clear()

    def hear(self, verdict: Verdict, *, quietly: bool = False) -> None:
        """Count one verdict, and show it if it matters to the user and the progress is not quiet."""
        self._counts[verdict.status] += 1
        if verdict.is_claimable:
            self._claimable.append(verdict)
        elif not quietly and (verdict.is_failure or verdict.notice or verdict.waiver is not None):
            kind = "failing notice" if verdict.notice else "waiver" if verdict.waiver is not None else "failure"
            self._show(kind, verdict)
        counts = ", ".join(f"{n} {status}" for status, n in sorted(self._counts.items()))
        self._progress.update(self._task, advance=1, description=counts)

    def tell(self, sentence: str) -> None:
        """Say a sentence beside the progress."""
        self._console.print(sentence, soft_wrap=True, markup=False, style="yellow")

    def _show(self, kind: str, verdict: Verdict) -> None:
        self._shown[kind] += 1
        if self._shown[kind] > _MOST_SHOWN[kind]:
            return
        style, word = ("red", str(verdict.status)) if kind == "failure" else ("yellow", _WORDS[kind])
        self._console.print(Text.assemble((f"{word:<12}", style), f" {verdict.id}"), soft_wrap=True)
        reason = verdict.outcome.reason if verdict.waiver is None else f"{verdict.status}, {verdict.waiver}"
        for text in reason.splitlines()[:_LINES]:
            self._console.print(Text(f"             {text}"), soft_wrap=True)
        if self._shown[kind] == _MOST_SHOWN[kind]:
            self._console.print(f"             (further {kind}s are in the report alone: --json FILE)", soft_wrap=True)
