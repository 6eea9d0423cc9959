"""The two hooks of EP: what an entry point's package implements, and the markers that say so.

    @ep.provider_hook
    def ep_provider() -> ep.spi.Provider: ...

    @ep.family_hook
    def ep_families() -> Sequence[ep.Family]: ...

The markers are pluggy's, applied without importing pluggy: they set the attribute that a `HookimplMarker("ep")` sets,
so an entry module stays free of imports, and discovery gives pluggy what it expects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    import pluggy

    from ep import spi
    from ep.plugin.family import Family

__all__ = ["PROJECT", "Hooks", "family_hook", "provider_hook", "specified"]

PROJECT: Final = "ep"

Function = TypeVar("Function", bound=Callable[..., Any])


def _mark(function: Function) -> Function:
    options = {
        "wrapper": False,
        "hookwrapper": False,
        "optionalhook": False,
        "tryfirst": False,
        "trylast": False,
        "specname": None,
    }
    setattr(function, f"{PROJECT}_impl", options)
    return function


def provider_hook(function: Function) -> Function:
    """Mark `ep_provider` as the hook implementation of a provider's entry module."""
    return _mark(function)


def family_hook(function: Function) -> Function:
    """Mark `ep_families` as the hook implementation of a families' entry module."""
    return _mark(function)


class Hooks:
    """The specifications: a name, arguments and a docstring each, and no body."""

    def ep_provider(self) -> spi.Provider:
        """Return a new provider. Called once a process; imports no vendor library, that is for `_probe`."""
        raise NotImplementedError

    def ep_families(self) -> Sequence[Family]:
        """Return the families that a package brings. Called once a process."""
        raise NotImplementedError


def specified() -> pluggy.PluginManager:
    """Return a plugin manager that knows the specifications; discovery makes one for each plugin, so as to isolate it."""
    import pluggy  # noqa: PLC0415 - 15 ms, and only discovery needs it

    marker = pluggy.HookspecMarker(PROJECT)
    for name in ("ep_provider", "ep_families"):
        marker(firstresult=True)(getattr(Hooks, name))
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(Hooks)
    return manager
