"""Build the documentation site into a folder, and say what is missing in it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click
from sphinx.cmd.build import build_main

from ep_tools.findings import Findings
from ep_tools.folders import ROOT
from ep_tools.website.check import problems
from ep_tools.website.source import write

__all__ = ["command"]

_WORDS: Final = "-b html -q -j 2 -E -a -n -W --keep-going"
"""All anew, so that no warning is lost; names that lead nowhere and every other warning are errors, all of them shown."""


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--theme", default="furo", help="Sphinx's theme; `basic` is written in half of the time.")
def command(folder: Path, theme: str) -> None:
    """Build the site into FOLDER, from the tree that is written beside it.

    A warning of Sphinx is an error. Exit codes: 0 good, 1 a warning, or something is missing.
    """
    tree = folder.with_name(f"{folder.name}-source")
    write(tree)
    trees = folder.with_name(f"{folder.name}-trees")
    places = ["-c", str(ROOT / "docs"), "-D", f"html_theme={theme}", "-d", str(trees), str(tree), str(folder)]
    if status := build_main([*_WORDS.split(), *places]):
        raise click.exceptions.Exit(int(status))
    if found := [*problems(folder)]:
        raise Findings(found)
