"""Cases that vendors bring: the hook of the entry-point group `ep.conformance`, and the decorator that makes a case.

    [project.entry-points."ep.conformance"]
    acme = "ep_acme.cases"

    @ep_conformance.case()
    def scratch_is_cleared(trial: ep_conformance.Trial) -> None:
        \"\"\"Fresh memory of the device holds zeros.\"\"\"

    @ep_conformance.hook
    def ep_conformance_cases() -> Sequence[ep_conformance.VendorCase]:
        return (scratch_is_cleared,)

Its id is `vendor/acme/scratch-is-cleared`. It counts where a provider's claims.toml claims it: `cells = "vendor/acme/*"`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pluggy
    from ep_primitives import Case

    from ep_conformance.fixture.trial import Trial

__all__ = ["HOOK", "PROJECT", "Hooks", "VendorCase", "case", "hook", "specified"]

PROJECT: Final = "ep.conformance"
HOOK: Final = "ep_conformance_cases"

Function = TypeVar("Function", bound="Callable[[], Any]")


@dataclass(frozen=True)
class VendorCase:
    """A claim of a vendor's own and the function that tries it.

    name     : last part of its id
    body     : passes by returning, fails by any exception, is unsupported by ep.UnsupportedError
    claim    : what holds if it passes: the function's docstring
    profile  : the smallest profile that runs it
    """

    name: str
    body: Callable[[Trial], None]
    claim: str
    profile: str = "quick"


def case(*, profile: str = "quick") -> Callable[[Callable[[Trial], None]], VendorCase]:
    """Make a function of one Trial a case named after it, whose docstring is the claim that it tries.

    Raises ValueError for a function without a docstring: a report could not say what failed.
    """

    def make(function: Callable[[Trial], None]) -> VendorCase:
        claim = (function.__doc__ or "").strip()
        if not claim:
            message = f"case {function.__name__}: has no docstring; say in it what holds if the case passes"
            raise ValueError(message)
        return VendorCase(function.__name__.strip("_").replace("_", "-"), function, claim, profile)

    return make


def hook(function: Function) -> Function:
    """Mark `ep_conformance_cases` as the hook implementation of an entry module."""
    # What a pluggy.HookimplMarker sets, without importing pluggy.
    names = ("wrapper", "hookwrapper", "optionalhook", "tryfirst", "trylast")
    setattr(function, f"{PROJECT}_impl", {**dict.fromkeys(names, False), "specname": None})
    return function


class Hooks:
    """The specification: a name, arguments and a docstring, and no body."""

    def ep_conformance_cases(self) -> Sequence[VendorCase | Case]:
        """Return the cases that a package brings. Called once a process.

        A VendorCase is tried by its function. An `ep_primitives.Case` is one more descriptor of an installed family, judged
        as the family's own cases are.
        """
        raise NotImplementedError


def specified() -> pluggy.PluginManager:
    """Return a plugin manager that knows the specification; discovery makes one for each package, so as to isolate it."""
    import pluggy  # noqa: PLC0415 - 15 ms, and only discovery needs it

    pluggy.HookspecMarker(PROJECT)(firstresult=True)(Hooks.ep_conformance_cases)
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(Hooks)
    return manager
