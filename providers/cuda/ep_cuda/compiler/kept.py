"""Compiled programs that one process keeps for the next: a file each, which is read whole and right or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ep.folders import cache_folder

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["kept"]

_SEAL: Final = hashlib.sha256().digest_size


def kept(key: str, make: Callable[[], bytes]) -> bytes:
    """Return the program that is kept under a key, else `make`'s, which is kept then; where nothing can be, nothing is.

    key : all that decides the program, as text

    Only this user may read or write the folder. A file begins with a checksum over key and content, and comes to its
    place whole, so that processes need no lock: the last of two that make one program wins, with equal bytes.
    """
    folder = cache_folder() / "cuda"
    place = folder / hashlib.sha256(key.encode()).hexdigest()
    with contextlib.suppress(OSError):
        content = place.read_bytes()
        if place.stat().st_uid == os.geteuid() and content[:_SEAL] == _seal(key, content[_SEAL:]):
            return content[_SEAL:]
    body = make()
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_uid == os.geteuid():
            folder.chmod(0o700)
            _write(place, _seal(key, body) + body)
    return body


def _write(place: Path, content: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=place.parent, delete=False) as file:
        try:
            file.write(content)
            file.close()
            Path(file.name).replace(place)
        except OSError:
            Path(file.name).unlink(missing_ok=True)
            raise


def _seal(key: str, body: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + body).digest()
