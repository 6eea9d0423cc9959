"""How a command ends: its exit codes, and the two exceptions that are one sentence for the user."""

from __future__ import annotations

from typing import Final

import click

__all__ = ["CODES", "INTERRUPTED", "UnavailableExit", "WrongUse"]

CODES: Final = "Exit codes: 0 good, 1 failures, 2 wrong use, 3 provider or device unavailable, 130 interrupted."
INTERRUPTED: Final = 130


class WrongUse(click.ClickException):
    """One line, exit 2."""

    exit_code = 2


class UnavailableExit(click.ClickException):
    """The reason, exit 3."""

    exit_code = 3
