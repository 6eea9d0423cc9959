"""Data that the cases of BatchNorm do not have, with the reasons."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.lack import Ranks

__all__ = ["RANKS"]

RANKS: Final = (Ranks("batch_norm", least=1),)
