"""All conditions, by theme."""

from __future__ import annotations

from typing import Final

from ep_conformance.saboteurs.strangers import (
    addresses,
    attributes,
    contents,
    extents,
    indices,
    order,
    products,
    strides,
    windows,
)

__all__ = ["CONDITIONS"]

CONDITIONS: Final = (
    *extents.CONDITIONS,
    *strides.CONDITIONS,
    *addresses.CONDITIONS,
    *contents.CONDITIONS,
    *indices.CONDITIONS,
    *attributes.CONDITIONS,
    *products.CONDITIONS,
    *windows.CONDITIONS,
    *order.CONDITIONS,
)
"""Their names are unique."""
