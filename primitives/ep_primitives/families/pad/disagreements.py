"""Where PyTorch gives something else than Pad, and why."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.disagreement import Disagreement

__all__ = ["DISAGREEMENTS"]

DISAGREEMENTS: Final = (
    Disagreement(
        "any",
        "error",
        ("pad/constant",),
        "EP lets one side crop more than there is if the other side brings it back; PyTorch crops before it pads, and raises.",
    ),
)
