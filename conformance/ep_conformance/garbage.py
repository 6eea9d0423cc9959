"""Python's collections of garbage: the suite has a hundred thousand objects that stay, and lists as many cases."""

import gc
from typing import Final

__all__ = ["collect_seldom"]

_OBJECTS: Final = 20_000
"""Between two collections. With Python's 700 they took a tenth of a run."""


def collect_seldom() -> None:
    """Never look again at the objects that there are, which are modules and the device, and seldom at new ones."""
    gc.freeze()
    gc.set_threshold(_OBJECTS)
