"""The page of the errors: every exception class of EP and its suite, and the methods that raise it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from typing import TYPE_CHECKING, Any, Final

import ep_conformance
import ep_onnx

import ep
from ep_tools.website.members import members
from ep_tools.website.packages import public

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["errors", "page"]

_HEAD: Final = """Errors
======

Every exception that EP and its suite raise of their own. A caller's mistake is a plain ``ValueError`` or ``TypeError``, raised before
anything is enqueued; its message names operation, argument, what was given, what is needed, and a cure. What a vendor's call reports is a
:py:exc:`ep.DeviceError`, which names provider, call and code, and the enqueue that it hit. Only :py:exc:`ep.UnsupportedError` means *try
the next one*.

"""
_OTHERS: Final = """
Of files, commands and cases
----------------------------
"""
_OWN: Final = (ep, ep_conformance, ep_onnx)


def errors() -> dict[str, type[BaseException]]:
    """Return every public exception class by its full name, with its module where no package makes it public."""
    found: dict[str, type[BaseException]] = {}
    for package in _OWN:
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.endswith("__main__"):
                continue
            for name, kind in vars(importlib.import_module(module.name)).items():
                if (
                    inspect.isclass(kind)
                    and issubclass(kind, BaseException)
                    and kind.__module__ == module.name
                    and name[0] != "_"
                ):
                    found[public(name) or f"{module.name}.{name}"] = kind
    return found


def page() -> str:
    """Return the page, in reStructuredText, which autodoc writes."""
    raised = _raised()
    lines = [_HEAD]
    found = sorted(errors().items(), key=lambda each: not issubclass(each[1], ep.EpError))
    for name, kind in found:
        lines += [_OTHERS] if not issubclass(kind, ep.EpError) and _OTHERS not in lines else []
        lines += [f".. autoexception:: {name}\n   :show-inheritance:\n"]
        if by := raised.get(kind.__name__):
            lines += [f"   Raised by {', '.join(by)}.\n"]
    return "\n".join(lines)


def _raised() -> dict[str, list[str]]:
    """Return for each error the public functions and methods of ep whose docstring says that they raise it."""
    found: dict[str, list[str]] = {}
    for name, member in _members():
        for sentence in re.findall(r"\bRaises ([^.]*)", inspect.getdoc(member) or ""):
            for error in dict.fromkeys(re.findall(r"\b\w+Error\b", sentence)):
                found.setdefault(error, []).append(f":py:obj:`{name}`")
    return found


def _members() -> Iterator[tuple[str, Any]]:
    for name in ep.__all__:
        thing = getattr(ep, name)
        if inspect.isfunction(thing):
            yield f"ep.{name}", thing
        elif inspect.isclass(thing) and not issubclass(thing, BaseException):
            yield from ((f"ep.{name}.{own}", member) for own, member in members(thing).items())
