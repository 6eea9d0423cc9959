"""The family OneHot."""

from __future__ import annotations

from ep_primitives.families.one_hot.descriptor import OneHot

__all__ = ["OneHot"]
