"""The family CrossEntropy."""

from __future__ import annotations

from ep_primitives.families.cross_entropy.descriptor import CrossEntropy

__all__ = ["CrossEntropy"]
