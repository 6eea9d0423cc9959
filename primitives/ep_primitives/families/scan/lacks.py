"""Data that the cases of Scan do not have, with the reasons."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.lack import Lack

__all__ = ["LACKS"]

LACKS: Final = (
    Lack("scan", "exact", "a part that is 0 has either sign", ("prod/complex",)),
    Lack("scan", "designed", "integers wrap, and random rows reach the ends of their types", ("prod/int", "prod/uint")),
)
