"""How a command ends: with its exit code, even where its output cannot be written."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

__all__ = ["end"]


def end(code: int) -> NoReturn:
    """Exit with `code`; text that a full disk or a pipe without a reader does not take is dropped.

    Without this, the interpreter tries once more as it ends, reports that in lines of its own and exits with 120.
    """
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
