"""The public methods and properties of a class: what a page about it has to say."""

from __future__ import annotations

import inspect
from typing import Any

from ep_tools.website.packages import PACKAGES

__all__ = ["members"]


def members(kind: type) -> dict[str, Any]:
    """Return the public methods and properties that a class has of ours, without those that it has from another public class."""
    public = {
        each for package in PACKAGES for name in package.__all__ if inspect.isclass(each := getattr(package, name))
    }
    names = {package.__name__ for package in PACKAGES}
    found: dict[str, Any] = {}
    for each in reversed(kind.__mro__):
        if each.__module__.partition(".")[0] in names and (each is kind or each not in public):
            found |= {name: member for name, member in vars(each).items() if name[0] != "_"}
    return {
        name: member
        for name, member in found.items()
        if isinstance(member, property | classmethod | staticmethod) or inspect.isfunction(member)
    }
