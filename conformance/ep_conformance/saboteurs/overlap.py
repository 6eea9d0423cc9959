"""Which operands are windows that share elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ep

__all__ = ["is_windows"]


def is_windows(spec: ep.TensorSpec) -> bool:
    """Say whether elements are shared although each dimension leads to others."""
    return spec.overlaps_itself and 0 not in spec.strides
