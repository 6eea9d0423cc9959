"""Write what ep_primitives exports for type checkers: primitives/ep_primitives/__init__.pyi."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import click
import ep_primitives
from ep_primitives.families import exports

from ep_tools.folders import ROOT
from ep_tools.renew import renew

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE: Final = ROOT / "primitives" / "ep_primitives" / "__init__.pyi"


def text() -> str:
    """Return the stub: an import for each name, from where it is defined, in the order of the linter."""
    families = exports()
    shared: Mapping[str, str] = vars(ep_primitives)["SHARED"]  # which the stub hides
    found = []
    for name in ep_primitives.__all__:
        if name in families:
            found.append((_folder(name, families[name]), not name.isupper(), name))
        elif name in shared:
            found.append((f"ep_primitives.{shared[name]}", not name.isupper(), name))
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


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if it is not of today.")
def command(*, check: bool) -> None:
    """Write the stub."""
    renew(FILE, text(), check=check, name="stub")
