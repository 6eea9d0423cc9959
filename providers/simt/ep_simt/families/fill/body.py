"""Fill over the loops of `elementwise`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import Fill

from ep_simt.elementwise.body import Elementwise

if TYPE_CHECKING:
    from ep_simt.body import Body

__all__ = ["BODY"]

BODY: Final[Body] = Elementwise(Fill, forms=("s",))
