"""Live progress of a run: a bar on a terminal, failures as they come, plain lines elsewhere."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from ep_conformance.verdict import FAILING, Status, Verdict

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import Console

__all__ = ["Live"]

_SHOWN: Final = 40
_STYLES: Final = {Status.PASS: "green", Status.UNSUPPORTED: "yellow", Status.NEW: "cyan"}


class Live:
    """Shows verdicts as they come. The first failures in full; of a great many only their number."""

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._counts: Counter[Status] = Counter()
        self._shown = 0
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

    def hear(self, verdict: Verdict) -> None:
        """Show one verdict."""
        self._counts[verdict.status] += 1
        if verdict.is_failure or verdict.notice:
            self._tell(verdict)
        counts = ", ".join(f"{n} {status}" for status, n in sorted(self._counts.items()))
        self._progress.update(self._task, advance=1, description=counts)

    def _tell(self, verdict: Verdict) -> None:
        self._shown += 1
        if self._shown > _SHOWN:
            return
        style = "red" if verdict.status in FAILING else _STYLES[verdict.status]
        word = "notice" if verdict.notice else str(verdict.status)
        line = Text.assemble((f"{word:<12}", style), f" {verdict.id}")
        self._console.print(line, soft_wrap=True)
        for text in verdict.outcome.reason.splitlines()[:12]:
            self._console.print(Text(f"             {text}"), soft_wrap=True)
        if self._shown == _SHOWN:
            self._console.print("             (more of these are in the report only: --json FILE)")
