"""Complaints: misuse of the contract that is found later and elsewhere."""

from __future__ import annotations

import sys
from collections import deque

import ep

__all__ = ["Complaints"]


class Complaints:
    """Sentences, said on stderr at once and raised by the next synchronisation.

    said : all of them
    """

    def __init__(self) -> None:
        self.said: list[str] = []
        self._unheard: deque[str] = deque()

    def add(self, what: str) -> None:
        """Complain."""
        self.said.append(what)
        self._unheard.append(what)
        sys.stderr.write(f"ep_sim: {what}\n")

    def take(self) -> ep.DeviceError | None:
        """Return the oldest complaint not yet raised, as an error."""
        try:
            what = self._unheard.popleft()
        except IndexError:
            return None
        return ep.DeviceError(what, provider="sim", call="ep_sim", code="misuse")
