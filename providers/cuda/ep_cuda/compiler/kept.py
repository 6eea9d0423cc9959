"""Compiled programs that one process keeps for the next, in `cuda` of the cache folder."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ep.folders import cache_folder
from ep.kept import Kept

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["kept"]


def kept(key: str, make: Callable[[], bytes]) -> bytes:
    """Return the program that is kept under a key, else `make`'s, which is kept then; where nothing can be, nothing is.

    key : all that decides the program, as text
    """
    programs = _programs(cache_folder() / "cuda")
    program = programs.read(key)
    if program is None:
        program = make()
        programs.write(key, program)
    return program


@functools.cache
def _programs(folder: Path) -> Kept:
    """Return what is kept in a folder, the same each time: it counts what this process writes."""
    return Kept(folder)
