"""Lacks: data that other families' cases have and one family's do not, and why; tests require all the rest."""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["Lack", "Ranks"]

Of = Literal["exact", "designed", "random", "parts", "large"]


class Lack(NamedTuple):
    """One thing that is not there.

    of     : a fill of `Case`; "parts", by which part of the work is launched alone; or "large", cases of more than 2^31 elements
    why    : the reason
    where  : parts of `op/dtypes` that lack it; none named are all
    """

    family: str
    of: Of
    why: str
    where: tuple[str, ...] = ("/",)


class Ranks(NamedTuple):
    """The least and the largest rank of a family's operands, of one that does not take 0 to 16."""

    family: str
    least: int = 0
    most: int = 16
