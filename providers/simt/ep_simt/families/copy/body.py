"""Copy over the kernels of `relocation`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import Copy

from ep_simt.relocation.body import Relocating

if TYPE_CHECKING:
    from ep_simt.body import Body

__all__ = ["BODY"]

BODY: Final[Body] = Relocating(Copy)
