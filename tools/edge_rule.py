"""What an edge rule is."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["EdgeRule"]


class EdgeRule(NamedTuple):
    """What happens at an edge.

    edge   : the name of it
    where  : the families that it is a matter of
    result : what happens there
    cases  : ids of quick cases, each of which fails where it does not
    """

    edge: str
    where: str
    result: str
    cases: tuple[str, ...]
