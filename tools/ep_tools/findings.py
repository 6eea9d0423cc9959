"""What a check finds."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Findings"]


class Findings(click.ClickException):
    """A line for each thing that is wrong; exit 1."""

    def __init__(self, lines: Iterable[str]) -> None:
        super().__init__("\n".join(lines))

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the lines as they are."""
        click.echo(self.message, file=file, err=True)
