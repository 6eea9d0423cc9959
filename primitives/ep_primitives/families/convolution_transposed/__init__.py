"""The family ConvolutionTransposed."""

from __future__ import annotations

from ep_primitives.families.convolution_transposed.descriptor import ConvolutionTransposed

__all__ = ["ConvolutionTransposed"]
