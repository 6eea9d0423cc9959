"""The page of the provider interface: every method that a provider must or may write, class by class."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Final

import ep
from ep_tools.website.docstrings import restructured

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CLASSES", "may", "must", "page", "shown"]

CLASSES: Final = (
    ep.spi.Provider,
    ep.spi.Device,
    ep.spi.Stream,
    ep.spi.Event,
    ep.Executable,
    ep.Implementation,
    ep.Kernel,
    ep.Family,
)
"""The classes that packages of others derive from, in the order in which a vendor meets them."""

_HEAD: Final = """The provider interface
======================

What a vendor's package writes, class by class. EP holds these objects as the *twins* of its own, which users have: those validate and
are final, and a twin never validates again. A *must* is abstract; a *may* has a default, which is named there;
:doc:`abilities` says which of them ``ep capabilities`` calls degraded.

Beside the package's ``__init__.py`` lie ``provider.toml`` (``name``, ``vendor``, ``spi``, ``fork_safe``) and ``claims.toml``;
:doc:`/hooks` says how the package is found.
"""


def must(kind: type) -> list[str]:
    """Return the names of what a subclass has to define."""
    found: frozenset[str] = getattr(kind, "__abstractmethods__", frozenset())
    return [name for name in _members(kind) if name in found]


def may(kind: type) -> list[str]:
    """Return the names of what a subclass may redefine: not final, described, and not Python's own."""
    return [name for name, member in _members(kind).items() if name not in must(kind) and _is_open(member)]


def page() -> str:
    """Return the page, in reStructuredText, which autodoc writes."""
    return "\n".join([_HEAD, *(line for kind in CLASSES for line in _section(kind))])


def _section(kind: type) -> Iterator[str]:
    name = shown(kind)
    yield f"{name}\n{'-' * len(name)}\n\n{_lead(kind)} See :py:class:`{name}`.\n"
    for title, members in (("Must", must(kind)), ("May", may(kind))):
        if members:
            yield f"{title}\n{'^' * len(title)}\n"
        yield from (f"* :py:obj:`{name}.{member}`: {_lead(getattr(kind, member))}" for member in members)
        yield ""


def shown(kind: type) -> str:
    """Return the name under which a class is documented."""
    return f"ep.spi.{kind.__name__}" if hasattr(ep.spi, kind.__name__) else f"ep.{kind.__name__}"


def _lead(thing: Any) -> str:
    """Return the first paragraph of a docstring."""
    return " ".join(restructured((inspect.getdoc(thing) or "").split("\n\n")[0].split("\n")))


def _members(kind: type) -> dict[str, Any]:
    """Return the functions and properties that a class has of EP's own, in the order of the sources, bases first."""
    found: dict[str, Any] = {}
    for each in reversed(kind.__mro__):
        if each.__module__.partition(".")[0] == "ep":
            found |= {name: member for name, member in vars(each).items() if not name.startswith("__")}
    return {
        name: member
        for name, member in found.items()
        if isinstance(member, property | classmethod) or inspect.isfunction(member)
    }


def _is_open(member: Any) -> bool:
    if isinstance(member, property) and member.fset:
        return False  # what callers set is EP's own; mypy takes no mark of finality there
    function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
    return (
        bool(function.__doc__) and not getattr(function, "__final__", False) and not getattr(member, "__final__", False)
    )
