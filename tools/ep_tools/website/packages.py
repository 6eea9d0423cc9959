"""The packages whose public names are the Python interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import ep_conformance
import ep_onnx
import ep_primitives

import ep

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["PACKAGES", "public"]

PACKAGES: Final[tuple[ModuleType, ...]] = (ep, ep.spi, ep_primitives, ep_conformance, ep_onnx)


def public(name: str) -> str:
    """Return the full name of what a bare name means, "" for what no package makes public."""
    found = (f"{package.__name__}.{name}" for package in PACKAGES if name in package.__all__)
    return next(found, "")
