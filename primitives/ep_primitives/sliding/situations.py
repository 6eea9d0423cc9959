"""The situations of windows that slide: how many dimensions, and how windows lie in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ep_primitives.situations.extents import extent
from ep_primitives.situations.model import Dimension, Never

if TYPE_CHECKING:
    from random import Random

    from ep_primitives.situations.model import Situation

__all__ = ["DILATION", "PADS", "SLIDING_RULES", "SPATIAL", "STRIDE", "WINDOW", "Slid", "slid"]

SPATIAL: Final = Dimension("spatial", ("2", "1", "3", "6"))
WINDOW: Final = Dimension("window", ("3", "1", "2", "row", "large"))
"""Row: of one element but in the last dimension."""
STRIDE: Final = Dimension("stride", ("1", "2", "more"))
"""More: than a window spans, so that there are gaps between windows."""
DILATION: Final = Dimension("dilation", ("1", "2"))
PADS: Final = Dimension("pads", ("none", "same", "before", "after", "beyond"))
"""Same: as many outputs as inputs where the stride is 1. Beyond: some windows see nothing."""

SLIDING_RULES: Final = (
    Never({"spatial": ("3", "6"), "inner": ("long",)}, "many dimensions have elements enough"),
    Never({"spatial": ("3", "6"), "window": ("large",)}, "many dimensions have elements enough"),
    Never({"spatial": ("6",), "pads": ("beyond",)}, "many dimensions have elements enough"),
)

_MOST: Final = 6
_MANY: Final = 3
"""So many dimensions have elements enough if each is short."""


class Slid(NamedTuple):
    """The spatial extents of x, and the attributes of windows, as descriptors take them."""

    extents: tuple[int, ...]
    window: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[int, ...]


def slid(random: Random, situation: Situation) -> Slid:
    """Return windows of a situation, and extents in which each dimension has a few of them, the last one more."""
    count = int(situation["spatial"])
    word = situation["window"]
    size = {"row": 3, "large": 5}.get(word) or int(word)
    window = (*(1 if word == "row" else size for _ in range(count - 1)), size)
    if count == _MOST:
        window = (1, 2, 1, 1, 1, min(size, 2))
    dilations = (int(situation["dilation"]),) * count
    spans = tuple(dilation * (each - 1) + 1 for dilation, each in zip(dilations, window, strict=True))
    strides = tuple({"1": 1, "2": 2, "more": span + 1}[situation["stride"]] for span in spans)
    outer = tuple(span + random.randint(1, 1 if count >= _MANY else 4) for span in spans[:-1])
    last = extent(random, situation["inner"]) + -(-spans[-1] // 4) * 4
    if count >= _MANY:
        last = last % 8 + 8
    pads = {
        "none": ((0,) * count,) * 2,
        "same": (tuple(span // 2 for span in spans),) * 2,
        "before": (tuple(span // 2 for span in spans), (0,) * count),
        "after": ((0,) * count, tuple((span + 1) // 2 for span in spans)),
        "beyond": (tuple(span + 1 for span in spans),) * 2,
    }
    before, after = pads[situation["pads"]]
    return Slid((*outer, last), window, strides, dilations, (*before, *after))
