"""The folder in which EP keeps files that it can make again."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["cache_folder"]


def cache_folder() -> Path:
    """Return the folder for what can be made again: EP_CACHE_DIR, else the user's cache folder. It need not exist."""
    import platformdirs  # noqa: PLC0415 - whoever only lists providers needs no folder

    chosen = os.environ.get("EP_CACHE_DIR")
    return Path(chosen or platformdirs.user_cache_dir("execution-provider")).absolute()
