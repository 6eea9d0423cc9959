"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from ep_conformance.trial import PROFILES

__all__ = ["FILE", "device", "pattern", "profile", "provider"]

FILE: Final = click.Path(dir_okay=False, path_type=Path)

provider = click.option("--provider", required=True, help="Name of an installed provider.")
device = click.option(
    "--device", default=0, show_default=True, type=click.IntRange(min=0), help="Which of its devices."
)
profile = click.option(
    "--profile", default="standard", show_default=True, type=click.Choice(PROFILES), help="How much data."
)
pattern = click.option("--filter", "pattern", help="Only cases whose id matches this glob; * crosses slashes.")
