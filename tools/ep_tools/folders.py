"""Where the repository lies."""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["ROOT", "TOOLS"]

TOOLS: Final = Path(__file__).resolve().parents[1]
ROOT: Final = TOOLS.parent
