"""Names of families that are alike."""

from __future__ import annotations

from typing import Final

__all__ = ["ALONG", "BINARY", "ELEMENTWISE", "EXPONENTIALS", "MOVING", "NORMS", "PICKING", "ROWS", "WINDOWS"]

BINARY: Final = ("add_n", "broadcast_binary", "where")
"""Several inputs of one shape, up to broadcasting."""

ELEMENTWISE: Final = (*BINARY, "cast", "elementwise_unary", "saturating_cast")

MOVING: Final = ("copy", "pad", "permute")
"""Elements of one input change their places alone."""

EXPONENTIALS: Final = ("softmax", "log_softmax")

ALONG: Final = (*EXPONENTIALS, "softmax_backward", "log_softmax_backward", "scan")
"""One axis, whose rows stay as long as they are."""

PICKING: Final = ("arg_reduce", "top_k")
"""Elements are compared, and their places are results."""

NORMS: Final = ("layer_norm", "rms_layer_norm")

ROWS: Final = (*ALONG, *NORMS, *PICKING, "reduce")
"""Each result is made of a row of the first input."""

WINDOWS: Final = ("convolution", "convolution_transposed", "pool")
