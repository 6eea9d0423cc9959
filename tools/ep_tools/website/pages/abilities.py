"""The page of the optional runtime abilities: which method serves each, and what EP does for a provider without it."""

from __future__ import annotations

import inspect
import re
from typing import Final

from ep.plugin.capabilities import ABILITIES, served_by
from ep_conformance.runtime import runtime_cases

from ep_tools.markdown import escaped
from ep_tools.website.directive import directive, fields

__all__ = ["page"]

_HEAD: Final = """# Abilities and their defaults

What a provider may leave out. Without the method EP serves the ability itself, slower but right, and counts that in
`degraded` of the {py:class}`ep.Device`; or it refuses with {py:exc}`ep.UnsupportedError`. `ep capabilities` says which it is on a device, and
a claim such as `runtime/ability/timing` holds the device to a native one.
"""
_DEFAULT: Final = re.compile(r"Default: (.*?[.:])(?:\s|$)", re.DOTALL)


def page() -> str:
    """Return the page. Raises KeyError for an ability that no case tries."""
    lines = [_HEAD]
    for name in ABILITIES:
        case = runtime_cases()[f"runtime/ability/{name}"]
        kind, method, otherwise = served_by(name)
        own = getattr(kind, method)
        text = " ".join((inspect.getdoc(own) or "").split())
        default = _DEFAULT.search(text)
        role = "attr" if isinstance(own, property) else "meth"
        facts = {
            "served by": f"{{py:{role}}}`ep.spi.{kind.__name__}.{method}`",
            "without it": otherwise,
            "EP's default": escaped(default[1]) if default else "",
            "claim": f"{{case}}`{case.id}`",
        }
        lines += directive("ability", name, [escaped(" ".join(case.claim.split())), *fields(facts)])
    return "\n".join(lines)
