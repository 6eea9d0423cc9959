"""The family Convolution."""

from __future__ import annotations

from ep_primitives.families.convolution.descriptor import Convolution

__all__ = ["Convolution"]
