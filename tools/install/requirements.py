"""Print the requirements of EP with some of its extras, one a line: `python tools/install/requirements.py opencl,dev`."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def main(extras: str = "") -> int:
    """Print them; an extra that pyproject.toml does not name is wrong use, exit code 2."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    known = project["optional-dependencies"]
    names = extras.split(",") if extras else []
    strange = sorted({*names} - {*known})
    if strange:
        sys.stderr.write(f"pyproject.toml has no extra {', '.join(strange)}; it has {', '.join(known)}\n")
        return 2
    wanted = [*project["dependencies"], *(each for name in names for each in known[name])]
    sys.stdout.writelines(f"{each}\n" for each in wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
