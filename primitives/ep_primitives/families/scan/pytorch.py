"""Scan in PyTorch, a second opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

from ep_primitives.families.scan.rows import SCAN_OPS

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["EXPRESSIONS"]


def _scan(descriptor: Any, x: Tensor) -> Tensor:
    rows = torch.atleast_1d(x)
    rows = rows.flip(descriptor.axis) if descriptor.reverse else rows
    if descriptor.exclusive:
        identity = SCAN_OPS[descriptor.op].identity_of(descriptor.x.dtype)
        first = torch.full_like(rows.narrow(descriptor.axis, 0, min(1, descriptor.extent)), identity)
        rows = torch.cat((first, rows.narrow(descriptor.axis, 0, max(descriptor.extent - 1, 0))), descriptor.axis)
    scanned: Tensor
    if descriptor.op in {"sum", "prod"}:
        scanned = getattr(torch, f"cum{descriptor.op}")(rows, descriptor.axis, dtype=x.dtype)
    else:
        scanned = getattr(torch, f"cum{descriptor.op}")(rows, descriptor.axis).values
    scanned = scanned.flip(descriptor.axis) if descriptor.reverse else scanned
    return scanned.reshape(descriptor.out.shape)


EXPRESSIONS: Final = {"scan": _scan}
