"""Build the site into a folder, and say what is missing in it: `python -m website build/site`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from sphinx.cmd.build import build_main

from website.check import problems
from website.places import ROOT
from website.source import write

_WORDS: Final = "-b html -q -j 2 -E -a -n -W --keep-going"
"""All anew, so that no warning is lost; names that lead nowhere and every other warning are errors, all of them shown."""


def main() -> int:
    """Write the tree beside the folder, build it with warnings as errors, check it; return the exit status."""
    parser = argparse.ArgumentParser(prog="website", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the pages go")
    folder = parser.parse_args().folder
    tree = folder.with_name(f"{folder.name}-source")
    write(tree)
    trees = folder.with_name(f"{folder.name}-trees")
    places = ["-c", str(ROOT / "docs"), "-d", str(trees), str(tree), str(folder)]
    status = build_main([*_WORDS.split(), *places])
    if status == 0:
        found = [*problems(folder)]
        sys.stderr.write("".join(f"{problem}\n" for problem in found))
        status = 1 if found else 0
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
