"""The family TensorFill."""

from __future__ import annotations

from ep_primitives.families.tensor_fill.descriptor import TensorFill

__all__ = ["TensorFill"]
