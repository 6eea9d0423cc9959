"""Where EP and PyTorch differ in families that are not tables of ops, and why: shared ones, then the folders' own."""

from __future__ import annotations

from typing import Final

from ep_primitives.families import parts
from ep_primitives.judging.disagreement import NARROW, Disagreement

__all__ = ["FAMILY_DISAGREEMENTS"]

_SHARED: Final = (
    Disagreement("narrow float", "rounding", ("reduce/prod", "reduce/log_sum_exp", "softmax", "log_softmax"), NARROW),
    Disagreement(
        "narrow float",
        "value",
        ("reduce/prod", "reduce/log_sum_exp", "log_softmax"),
        "PyTorch rounds each step to the narrow type: the errors of long products add up, and those of results near 0 are as large as they.",
    ),
    Disagreement(
        "any",
        "error",
        ("convolution", "convolution_transposed", "pool/max", "pool/average", "pool/norm_1", "pool/norm_2"),
        "Images of no channels, and weights that make none, give an output without elements in EP; PyTorch raises.",
    ),
    Disagreement("narrow float", "rounding", ("convolution_transposed", "pool/norm_1", "pool/norm_2"), NARROW),
)

FAMILY_DISAGREEMENTS: Final = (*_SHARED, *[line for module in parts("disagreements") for line in module.DISAGREEMENTS])
