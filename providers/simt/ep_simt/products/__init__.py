"""The parts that kernels of matrix products share: factors, blocks in registers, and lines that are brought into shared memory."""

from __future__ import annotations

from typing import Final

__all__ = ["PRODUCTS"]

PRODUCTS: Final = ("products/factor.h", "products/block.h", "products/bring.h")
"""The files, in their order. They ask for EP_A and EP_C, EP_GIVEN, EP_PARTS, EP_PLUS, EP_BLOCK_ROWS and EP_BLOCK_COLUMNS."""
