"""Objects that one process keeps for the next, in a folder that only this user may read or write."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from ep_cuda.compiler.kept import kept as kept_in_folder

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["kept"]


def kept(key: str, make: Callable[[], bytes]) -> bytes:
    """Return what is kept under a key, this processor and this translator, else `make`'s, which is kept then."""
    from ep_cuda_emulator.machine_code import machine  # noqa: PLC0415

    return kept_in_folder(f"{_translator()}\n{machine()}\n{key}", make)


@functools.cache
def _translator() -> str:
    """Return what decides the translation beside the program: the text of this package."""
    digest = hashlib.sha256()
    folder = Path(__file__).parent
    for path in sorted((*folder.rglob("*.py"), *folder.rglob("*.ll"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()
