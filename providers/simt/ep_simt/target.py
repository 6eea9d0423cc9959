"""Targets: the properties of a device that plans depend on."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["CPU", "GPU", "Target"]


class Target(NamedTuple):
    """How a device likes its work to be cut.

    run    : elements, neighbours in the innermost dimension, that a work-item visits over dense tensors
    steps  : the same over strided tensors, whose rows may be short
    spread : bytes of the widest operand that a work-item fetches at once; 0 where neighbours share no fetch
    group  : work-items that share memory and meet at barriers, a power of two; 1 where a work-item is a loop of its own
    rounded: True if quotients and roots of float32 are rounded correctly; without it those that have to be are computed in double
    doubles: True if formulas of float32 may compute in double, as the device's element types say; else they are others
    """

    run: int
    steps: int
    group: int
    spread: int = 0
    rounded: bool = True
    doubles: bool = True

    def rounding_words(self, compute: str) -> dict[str, object]:
        """Return the word for the type in which quotients and roots of a compute type are rounded, as called in C after `ep_`."""
        by_double = compute == "f32" and not self.rounded
        return {
            "EP_HAS_F64": int(compute == "f64" or by_double),
            "EP_ROUNDED": "ep_f64" if by_double else f"ep_{compute}",
        }


CPU: Final = Target(run=4096, steps=1024, group=1)
"""Work-items are iterations of loops, which become vectors."""

GPU: Final = Target(run=1, steps=1, group=256, spread=16)
"""Neighbouring work-items read memory together."""
