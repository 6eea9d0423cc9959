"""Where PyTorch gives something else than AddN, and why."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.disagreement import Disagreement

__all__ = ["DISAGREEMENTS"]

DISAGREEMENTS: Final = (
    Disagreement(
        "complex",
        "NaN there",
        ("add_n",),
        "PyTorch multiplies each next term by alpha = 1 + 0i, which makes NaN of an infinite part.",
    ),
    Disagreement(
        "complex",
        "value",
        ("add_n",),
        "PyTorch's factor alpha = 1 + 0i makes two parts that are NaN of a term with one; a sum of parts has one (C17, annex G.5.2).",
    ),
)
