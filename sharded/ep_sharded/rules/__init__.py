"""Rules: how placements go through an operation, one family a module.

In:  a descriptor of whole tensors.
Out: its signatures: which placements of the operands, in one dimension of a mesh, give which placement of the output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import BroadcastBinary, ElementwiseUnary, Matmul, Reduce

from ep_sharded.rules import elementwise, matmul, reduction
from ep_sharded.rules.rule import Rule, Signature

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__ = ["RULES", "Rule", "Signature"]

RULES: Final[Mapping[type[ep.Descriptor], Rule]] = {
    ElementwiseUnary: elementwise.UNARY,
    BroadcastBinary: elementwise.BINARY,
    Reduce: reduction.REDUCE,
    Matmul: matmul.MATMUL,
}
"""The families that have a rule."""
