"""The subject of a run: the device that is judged, and its provider."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Subject"]


@dataclass(frozen=True)
class Subject:
    """A judged device: its provider's name and version, and the device's info."""

    provider: str
    version: str
    device: dict[str, Any]

    @property
    def name(self) -> str:
        """The device's name, such as "cpu:0"."""
        return str(self.device["name"])
