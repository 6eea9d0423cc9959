"""The family BatchNorm."""

from __future__ import annotations

from ep_primitives.families.batch_norm.descriptor import BatchNorm

__all__ = ["BatchNorm"]
