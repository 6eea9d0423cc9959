"""Compiled programs that one process keeps for the next: an archive each of the files in a compiler's folder."""

from __future__ import annotations

import contextlib
import io
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ep.kept import Kept

__all__ = ["keep", "lay_out"]

_LIST: Final = ".kept"
"""The list in the folder of a program: names and bytes of its kept files."""


def lay_out(kept: Kept, key: str, work: Path) -> Path | None:
    """Write a kept program into a compiler's folder; return its place in there, None if there is none, or no room for it.

    key : all that decides the program, as text

    It gets there whole or not at all: a compiler takes whatever lies there for its own.
    """
    body = kept.read(key)
    if body is None:
        return None
    with contextlib.suppress(OSError), zipfile.ZipFile(io.BytesIO(body)) as archive:
        place = Path(*Path(archive.namelist()[0]).parts[:2])
        if not (work / place).exists():
            with tempfile.TemporaryDirectory(dir=work) as apart:
                folder = Path(apart, place)
                archive.extractall(apart)
                (folder / _LIST).write_text(_list(folder), encoding="utf-8")
                (work / place).parent.mkdir(exist_ok=True)
                folder.rename(work / place)
        return place
    return None


def keep(kept: Kept, key: str, work: Path, place: Path) -> None:
    """Keep the program that lies at a place of a compiler's folder, unless that is done."""
    folder = work / place
    with contextlib.suppress(OSError):
        now, mark = _list(folder), folder / _LIST
        is_kept = now == (mark.read_text(encoding="utf-8") if mark.exists() else "")
        if not is_kept and kept.write(key, _archive(work, folder)):
            mark.write_text(now, encoding="utf-8")


def _archive(work: Path, folder: Path) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED, compresslevel=1, strict_timestamps=False) as archive:
        for path in _files(folder):
            archive.write(path, path.relative_to(work))
    return body.getvalue()


def _list(folder: Path) -> str:
    return "".join(f"{path.relative_to(folder)} {path.stat().st_size}\n" for path in _files(folder))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != _LIST)
