"""Data that the cases of Attention do not have, with the reasons."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.lack import Lack

__all__ = ["LACKS"]

LACKS: Final = (
    Lack("attention", "exact", "a mask of bools makes cells of its own: those without it have this fill", ("bool",)),
    Lack("attention", "designed", "a mask of bools makes cells of its own: those without it have this fill", ("bool",)),
    Lack("attention", "random", "a mask of bools makes cells of its own: those without it have this fill", ("bool",)),
    Lack("attention", "parts", "which tree a product takes is the provider's choice, of parts of it, too"),
)
