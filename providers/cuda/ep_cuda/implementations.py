"""The table: the descriptors that this provider runs, each with its implementation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import ep_simt

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__ = ["IMPLEMENTATIONS"]

IMPLEMENTATIONS: Final[Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]] = ep_simt.implementations(
    ep_simt.Portable()
)
