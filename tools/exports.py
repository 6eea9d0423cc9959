"""Write what ep_primitives exports for type checkers: primitives/ep_primitives/__init__.pyi.

python tools/exports.py           write it
python tools/exports.py --check   exit 1 if it is not of today
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import ep_primitives
from ep_primitives.families import exports

FILE: Final = Path(__file__).parent.parent / "primitives" / "ep_primitives" / "__init__.pyi"


def text() -> str:
    """Return the stub: an import for each name, from where it is defined, in the order of the linter."""
    families = exports()
    found = []
    for name in ep_primitives.__all__:
        if name in families:
            found.append((_folder(name, families[name]), not name.isupper(), name))
        elif name in ep_primitives.SHARED:
            found.append((f"ep_primitives.{ep_primitives.SHARED[name]}", not name.isupper(), name))
    imports = [f"from {module} import {name} as {name}" for module, _, name in sorted(found)]
    in_order = sorted(ep_primitives.__all__, key=lambda name: (not name.isupper(), name.islower(), name))
    names = "".join([f'    "{name}",\n' for name in in_order])
    head = ["from collections.abc import Sequence", "", "import ep", *imports]
    return "\n".join([*head, "", f"__all__ = [\n{names}]", "", "def ep_families() -> Sequence[ep.Family]: ...", ""])


def _folder(name: str, value: object) -> str:
    """Return the folder that exports a name."""
    return next(
        module.__name__
        for module in [*sys.modules.values()]
        if module.__name__.startswith("ep_primitives.families.")
        and name in vars(module).get("__all__", ())
        and vars(module)[name] is value
    )


def main() -> None:
    """Write the stub, or say whether it is of today."""
    if "--check" in sys.argv:
        sys.exit(0 if FILE.read_text() == text() else f"{FILE.name} is not of today: python tools/exports.py")
    FILE.write_text(text())


if __name__ == "__main__":
    main()
