"""The CPU's implementations: descriptor type -> implementations, best first, found in the files of `families`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_cpu.families import implementations

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__ = ["IMPLEMENTATIONS"]

IMPLEMENTATIONS: Final[Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]] = implementations()
