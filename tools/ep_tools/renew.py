"""A generated file: written, or said to be out of date."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ep_tools.folders import ROOT

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["renew"]


def renew(file: Path, text: str, *, check: bool, name: str) -> None:
    """Write a file of the repository; or check it, and raise click.ClickException if it does not hold the text.

    name : of the command, which writes it
    """
    if not check:
        file.write_text(text, encoding="utf-8")
    elif not file.exists() or file.read_text(encoding="utf-8") != text:
        message = f"{file.relative_to(ROOT)} is not of today; write it: python tools {name}"
        raise click.ClickException(message)
