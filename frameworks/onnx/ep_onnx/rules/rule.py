"""A rule is a function `(do, node, *inputs)` that writes the steps of an operation and returns its outputs.

do     : the Trace
node   : the Call: attributes, the version of the operator set, bodies
inputs : Values; None for one that is left out before others; lists for sequences. Those that are left out at the end are not given

It returns a Value, or a tuple of them, or NotImplemented: then the operation's body as a function is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    Rule = Callable[..., Any]

__all__ = ["RULES", "counted", "rule"]

RULES: Final[dict[tuple[str, str], Rule]] = {}
"""By domain and name of the operation."""


def counted(axis: int, rank: int) -> int:
    """Return an axis counted from the first dimension; -1 and 0 are those of a scalar. Raises ValueError for one that is not there."""
    extent = max(rank, 1)
    if not -extent <= axis < extent:
        message = f"axis {axis} is none of {rank} dimensions; needs one from {-extent} to {extent - 1}"
        raise ValueError(message)
    return axis % extent


def rule(*names: str, domain: str = "") -> Callable[[Rule], Rule]:
    """Register a rule for operations of a domain."""

    def register(function: Rule) -> Rule:
        for name in names:
            assert (domain, name) not in RULES, name
            RULES[domain, name] = function
        return function

    return register
