"""The page of the saboteurs: each planted defect, and the case that must fail because of it."""

from __future__ import annotations

from ep_conformance.saboteurs.table import SABOTEURS

from ep_tools.markdown import escaped
from ep_tools.website.directive import directive

__all__ = ["page"]

_HEAD = """# Saboteurs

Providers with one planted defect each, over an honest provider that passes every case. The suite is trusted because each is killed
by the case named here: {count} of them.
"""


def page() -> str:
    """Return the page."""
    lines = [_HEAD.format(count=len(SABOTEURS))]
    for each in SABOTEURS:
        case = each.killed_by
        killer = f"{{case}}`{case}`" if case.startswith("runtime/") else f"`{case}`"
        defect = " ".join(each.defect.split())
        lines += directive("saboteur", each.name, [f"{escaped(defect)}\n\nKilled by {killer}"])
    return "\n".join(lines)
