"""Quantize by the walk of `quantization`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import Quantize

from ep_simt.quantization.body import Quantizing

if TYPE_CHECKING:
    from ep_simt.body import Body

__all__ = ["BODY"]

BODY: Final[Body] = Quantizing(Quantize)
