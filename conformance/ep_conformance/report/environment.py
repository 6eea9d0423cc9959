"""Where a run took place, as its report says it: versions, the platform, the variables of EP; neither user nor host."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["environment"]


def environment() -> dict[str, Any]:
    """Return the versions of EP, Python and NumPy, the platform, and all variables EP_*, with the home folder as ~."""
    home = str(Path.home())
    return {
        "ep": importlib.metadata.version("execution-provider"),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": platform.platform(),
        "machine": platform.machine(),
        "numpy": np.__version__,
        "variables": {
            name: value.replace(home, "~") for name, value in sorted(os.environ.items()) if name.startswith("EP_")
        },
    }
