"""The files of a command: whether they can be written is said before minutes of work, not after."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["require_writable"]


def require_writable(*files: Path | None) -> None:
    """Open the files that are given, and change nothing in them. Raises UsageError for one that is given twice, OSError."""
    given = [file for file in files if file is not None]
    for place, file in enumerate(given):
        if file.absolute() in [other.absolute() for other in given[:place]]:
            message = f"{file} is given for two reports; give each of them a file of its own"
            raise click.UsageError(message)
    for file in given:
        file.open("a").close()
