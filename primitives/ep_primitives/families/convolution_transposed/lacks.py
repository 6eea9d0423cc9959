"""Data that the cases of ConvolutionTransposed do not have, with the reasons."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.lack import Lack, Ranks

__all__ = ["LACKS", "RANKS"]

LACKS: Final = (
    Lack("convolution_transposed", "parts", "which tree a product takes is the provider's choice, of parts of it, too"),
    Lack("convolution_transposed", "large", "it has no kernel yet: what it lowers to has large cases"),
)

RANKS: Final = (Ranks("convolution_transposed", least=1, most=8),)
