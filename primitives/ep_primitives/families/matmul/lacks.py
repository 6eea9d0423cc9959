"""Data that the cases of Matmul do not have, with the reasons."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.lack import Lack, Ranks

__all__ = ["LACKS", "RANKS"]

LACKS: Final = (Lack("matmul", "parts", "which tree a product takes is the provider's choice, of parts of it, too"),)

RANKS: Final = (Ranks("matmul", least=2),)
