"""The family Matmul."""

from __future__ import annotations

from ep_primitives.families.matmul.descriptor import Matmul

__all__ = ["Matmul"]
