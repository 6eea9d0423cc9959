"""The conformance suite of EP: does a provider mean what the interfaces say? `ep-conformance run --provider NAME`.

Vendors add cases of their own by `case` and `hook`; each gets a `Trial`. Importing this imports nothing else of EP.
"""

from typing import TYPE_CHECKING, Any, Final

from ep_conformance.hooks import VendorCase, case, hook

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Trial
    from ep_conformance.judge.error import CaseError

__all__ = ["SUITE", "CaseError", "Trial", "VendorCase", "case", "hook"]

SUITE: Final = "1.1"
"""The version of the suite, which a provider's claims.toml names."""


def __getattr__(name: str) -> Any:
    if name not in {"CaseError", "Trial"}:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from ep_conformance.fixture import trial  # noqa: PLC0415 - pytest loads this package in every run, and numpy takes 70 ms

    return getattr(trial, name)
