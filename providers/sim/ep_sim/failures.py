"""Failures that are asked for: which allocation, launch, copy or task of a device goes wrong."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["KINDS", "Failures"]

KINDS: Final = ("allocation", "launch", "copy", "lost")
"""allocation: OutOfMemoryError; launch, copy: DeviceError when its turn comes; lost: with that task the device is lost.

Nodes of a graph are launches and copies, each launch of the graph is one task; uploads and downloads are copies.
"""


class Failures:
    """Counts a device's requests, and says which one fails. Each rule strikes once.

    rules : kind -> which one from now on, counted from 1
    """

    def __init__(self, rules: Mapping[str, int]) -> None:
        self._left = dict(rules)
        self._lock = threading.RLock()

    def plan(self, rules: Mapping[str, int]) -> None:
        """Count anew for the kinds given, from now on; 0 takes a rule back."""
        self._left.update(rules)

    def strikes(self, kind: str) -> bool:
        """Count one thing of a kind, and return True if it is the one that fails."""
        if not self._left.get(kind):
            return False
        with self._lock:
            left = self._left[kind] - 1
            self._left[kind] = left
        return left == 0
