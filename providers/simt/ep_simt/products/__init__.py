"""The parts that kernels of matrix products share: factors, blocks in registers, lines brought into shared memory, and tiles of these."""

from __future__ import annotations

from typing import Final

__all__ = ["FINISHED", "LINES", "PRODUCTS", "TILED"]

PRODUCTS: Final = ("products/factor.h", "products/block.h", "products/bring.h")
"""The files of any product, in their order. They ask for EP_A and EP_C, EP_GIVEN, EP_PARTS, EP_PLUS, EP_BLOCK_ROWS and EP_BLOCK_COLUMNS."""

LINES: Final = ("rows/rows.h", *PRODUCTS, "products/product.h", "products/lines.h")
"""The files of a product of matrices with batches; `Product` has their words."""

TILED, FINISHED = "products/tiles.inc", "products/finish.inc"
"""The files of its entries: tiles, and the sums of parts."""
