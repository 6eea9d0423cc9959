"""A CaseError says which claim of the contract did not hold."""

from __future__ import annotations

from typing import Any

__all__ = ["CaseError"]


class CaseError(Exception):
    """A claim of the contract did not hold; the message says which, what was given and what was needed.

    details : the part of this that a replay file keeps, as JSON values
    """

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.details = details
