"""Reads text files of unknown origin. It accepts only regular files of limited length, so that reading always ends."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_text"]

_MOST: Final = 1 << 20


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file of at most 1 MiB.

    Raises OSError for one that cannot be opened or is a pipe, a device or a folder, which might never end; ValueError for
    one that is longer, or no UTF-8.
    """
    _require_regular(path.stat())
    with open(path, "rb", opener=_open) as file:
        _require_regular(os.fstat(file.fileno()))
        content = file.read(_MOST + 1)
    if len(content) > _MOST:
        message = f"it is longer than {_MOST >> 20} MiB"
        raise ValueError(message)
    return content.decode("utf-8")


def _require_regular(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        message = "it is no regular file"
        raise OSError(message)


def _open(path: str, flags: int) -> int:
    # A file that has become a pipe since the check must not block.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
