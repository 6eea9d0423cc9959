"""The kernel dialect: functions made of the words of a prelude, as headers that every program may name."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Final

__all__ = ["text"]

_ROOM: Final = Path(__file__).parents[1]

_INCLUDE: Final = re.compile(r'^#include "([\w./]+)"$', re.MULTILINE)


@functools.cache
def text(name: str) -> str:
    """Return a file of this package with the files that it includes put in, so that compilers need no search path.

    name : from the package's folder on, as `dialect/math.h`; a file's includes lie beside it
    """
    path = _ROOM / name
    beside = path.parent.relative_to(_ROOM)
    return _INCLUDE.sub(lambda found: text(str(beside / found[1])), path.read_text(encoding="utf-8"))
