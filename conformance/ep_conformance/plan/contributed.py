"""Discovery of vendors' cases: each package loaded alone, so that a broken one is named and harms no other."""

from __future__ import annotations

import importlib
import re
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from ep.plugin.registry import Registration, entries
from ep_primitives import Case

import ep
from ep_conformance.hooks import HOOK, VendorCase, specified
from ep_conformance.plan.profiles import PROFILES

if TYPE_CHECKING:
    from ep.plugin.distributions import Entry

__all__ = ["CasePackage", "case_packages"]

_GROUP: Final = "ep.conformance"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]*\Z")


class CasePackage(Registration):
    """One installed package of cases. A package with a `fault` brings none.

    cases : its cases by id
    """

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry)
        self.cases: dict[str, VendorCase | Case] = {}

    @property
    def hook_id(self) -> str:
        """The id of the hook itself in a report, for a package whose hook fails."""
        return f"vendor/{self.name}/{HOOK}"

    def find(self) -> None:
        """Call the package's hook and keep its cases; an exception becomes its `fault`."""
        try:
            self.cases = self.guard(partial(_brought, self.name, self.package), "its cases could not be loaded") or {}
        except ep.UnavailableError as error:
            self.fault = f"its cases could not be loaded: {error}"


@cache
def case_packages() -> tuple[CasePackage, ...]:
    """Return every installed package of cases in the order of the entries' names, the broken ones too."""
    found: dict[str, CasePackage] = {}
    for entry in entries(_GROUP):
        package = CasePackage(entry)
        twin = found.setdefault(entry.name, package)
        if twin is package:
            package.find()
        elif twin.package != package.package:
            twin.fault = (
                f"two packages bring cases by this name, {twin.package} and {package.package}; rename one entry"
            )
            twin.cases = {}
    return tuple(found.values())


def _brought(entry: str, module: str) -> dict[str, VendorCase | Case]:
    """Return the cases of an entry by id. Raises TypeError for objects that are none, ValueError for equal names."""
    if not _NAME.match(entry):
        message = f"entry {entry!r} of {_GROUP}: its name is part of case ids, and needs small letters, digits, - and _"
        raise ValueError(message)
    manager = specified()
    manager.register(importlib.import_module(module))
    manager.check_pending()
    brought = getattr(manager.hook, HOOK)()
    if brought is None:
        message = f"module {module} implements no hook {HOOK}; mark it with @ep_conformance.hook"
        raise TypeError(message)
    found: dict[str, VendorCase | Case] = {}
    for case in brought:
        identity = f"vendor/{entry}/{_check(case)}"
        if identity in found:
            message = f"two cases are called {identity}; rename one"
            raise ValueError(message)
        found[identity] = case
    return found


def _check(case: Any) -> str:
    """Return a case's name. Raises TypeError or ValueError for a case that cannot be run."""
    if not isinstance(case, VendorCase | Case):
        message = (
            f"{HOOK}() brought {case!r}, needs functions decorated with @ep_conformance.case() or ep_primitives.Case"
        )
        raise TypeError(message)
    if not _NAME.match(case.name) or case.profile not in PROFILES:
        message = f"case {case.name!r} of profile {case.profile!r}: the name needs small letters, digits, - and _, the profile is one of {', '.join(PROFILES)}"
        raise ValueError(message)
    if isinstance(case, Case) and case.descriptor.family not in ep.families():
        message = f"case {case.name}: family {case.descriptor.family} is not installed"
        raise ValueError(message)
    return case.name
