"""A failing case as a script."""

from __future__ import annotations


def script_of(replay: object, path: object, device: str) -> str:
    """."""
    return ""
