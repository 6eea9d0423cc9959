"""Data that the cases of GroupNorm do not have, with the reasons."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.lack import Ranks

__all__ = ["RANKS"]

RANKS: Final = (Ranks("group_norm", least=1),)
