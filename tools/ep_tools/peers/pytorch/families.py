"""What PyTorch calls the operations of each family that is no table of elementwise ops, as the families' folders say it.

From a descriptor and tensors, in the order of operands and None for an absent one, to a tensor, or to one for each output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives.families import parts

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    Expression = Callable[..., torch.Tensor | dict[str, torch.Tensor]]

__all__ = ["BARE", "FAMILIES"]

_MODULES: Final = parts("pytorch")

FAMILIES: Final[dict[str, Expression]] = {
    name: expression for module in _MODULES for name, expression in module.EXPRESSIONS.items()
}

BARE: Final[dict[str, Expression]] = {
    name: expression for module in _MODULES for name, expression in getattr(module, "BARE", {}).items()
}
"""PyTorch's own of families whose expression above is guarded against indices out of range, at which this raises."""
