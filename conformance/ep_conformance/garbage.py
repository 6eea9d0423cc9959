"""Python's collections of garbage: modules, a device and lists of many thousand cases stay for all of a run."""

import gc
from typing import Final

__all__ = ["collect_seldom"]

_OBJECTS: Final = 20_000
"""Between two collections. With Python's 700 they took 6 % of the samples of a quick run on the emulated device."""


def collect_seldom() -> None:
    """Never look again at the objects that there are, and seldom at new ones."""
    gc.freeze()
    gc.set_threshold(_OBJECTS)
