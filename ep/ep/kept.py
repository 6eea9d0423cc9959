"""Contents that one process keeps for the next, such as compiled programs: a file each, which is read whole and right or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Final

__all__ = ["Kept"]

_SEAL: Final = hashlib.sha256().digest_size
_GIBIBYTE: Final = 1 << 30
_SELDOM: Final = 64
"""Contents that are written before the folder is looked through again: of thousands that takes 10 ms."""

_DAY: Final = 86_400
"""Seconds for which the date of a file need not be right."""


class Kept:
    """A folder of contents by key, which only this user may read or write.

    folder : its path; it is made when something is written
    most   : bytes of all contents. Where there are more, those go that nobody has read for the longest time

    A file begins with a checksum over key and content, and comes to its place whole. So processes need no lock: the last of
    two that write the same key wins. What cannot be read is not there, and what cannot be written is not kept.
    """

    def __init__(self, folder: Path, most: int = _GIBIBYTE) -> None:
        """Name the folder, without looking at it."""
        self.folder = folder
        self._most = most
        self._writes = itertools.count()

    def read(self, key: str) -> bytes | None:
        """Return the content of a key, None if there is none that is whole and this user's.

        key : all that decides the content, as text
        """
        place = self._place(key)
        with contextlib.suppress(OSError):
            content, status = place.read_bytes(), place.stat()
            if status.st_uid == os.geteuid() and content[:_SEAL] == _seal(key, content[_SEAL:]):
                if time.time() - status.st_mtime > _DAY:
                    os.utime(place)
                return content[_SEAL:]
        return None

    def write(self, key: str, content: bytes) -> bool:
        """Keep a content, in place of what the key had. Return whether that was done; where it fails nothing changes."""
        with contextlib.suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.folder.stat().st_uid == os.geteuid():
                self.folder.chmod(0o700)
                if next(self._writes) % _SELDOM == 0:
                    with contextlib.suppress(OSError):
                        self._make_room()
                self._put(self._place(key), _seal(key, content) + content)
                return True
        return False

    def _put(self, place: Path, content: bytes) -> None:
        with tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as file:
            try:
                file.write(content)
                file.close()
                if place.is_dir():
                    shutil.rmtree(place)
                Path(file.name).replace(place)
            except OSError:
                Path(file.name).unlink(missing_ok=True)
                raise

    def _make_room(self) -> None:
        """Remove what is too much, as far as that can be done: another process may do the same."""
        found = [
            (entry.stat(), entry.path) for entry in os.scandir(self.folder) if entry.is_file(follow_symlinks=False)
        ]
        rest = sum(status.st_size for status, _ in found) - self._most
        for status, path in sorted(found, key=lambda each: each[0].st_mtime):
            if rest <= 0:
                return
            Path(path).unlink(missing_ok=True)
            rest -= status.st_size

    def _place(self, key: str) -> Path:
        return self.folder / hashlib.sha256(os.fsencode(key)).hexdigest()


def _seal(key: str, content: bytes) -> bytes:
    return hashlib.sha256(os.fsencode(key) + b"\0" + content).digest()
