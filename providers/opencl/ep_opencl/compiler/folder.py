"""The compiler's folder: of this process alone, filled with the programs of earlier ones that are whole, and no others.

PoCL maps the files of its folder, and a damaged file ends the process. So no process works in a folder that another
process, or a full disk, has left. It gets a new one, and the programs that it compiled are kept beside it, under checksums.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import itertools
import os
import shutil
import tempfile
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from ep.folders import cache_folder
from ep.kept import Kept

import ep
from ep_opencl.compiler.kept import keep, lay_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["CompilerFolder", "require_writable"]

Built = TypeVar("Built")

_LATEST: Final = 8
"""Programs that are looked at when another is built, since an entry is compiled when it is first launched; all are at the end."""

_LETTERS: Final = 2
_TRIAL: Final = bytes(1 << 20)
_CURE: Final = "make it a folder of your own that can be written, or set EP_CACHE_DIR to one"


class CompilerFolder:
    """A folder of this process alone for a driver's compiler, and the programs that processes keep for each other.

    work : the folder that the driver gets
    """

    def __init__(self) -> None:
        """Make the folder; where none can be kept, a temporary one, with a warning that says why.

        Raises UnavailableError if there is no place for that either.
        """
        place = cache_folder() / "opencl"
        self._kept: Kept | None = Kept(place / "kept")
        try:
            _own(place)
            _own(self._kept.folder)
            _own(place / "work")
            _clear(place / "work")
            self.work, self._claim = _claimed(place / "work")
        except OSError as error:
            why = f"{error.filename or place} cannot be used for compiled programs ({error.strerror})"
            warnings.warn(f"{why}: each process compiles them anew; {_CURE}", RuntimeWarning, stacklevel=2)
            self._kept = None
            self.work, self._claim = _temporary(why)
        self._process = os.getpid()
        self._places: dict[str, Path] = {}
        self._turn = threading.RLock()  # a handler may build a program of its own in the middle of another
        self._users = 0
        self._is_ending = False
        atexit.register(self._end)

    def build(self, key: str, make: Callable[[], Built]) -> Built:
        """Return the result of `make`, which finds a kept program of that key if a whole one is there.

        key : all that decides the result, as text
        """
        with self._turn:
            found = None if self._kept is None else lay_out(self._kept, key, self.work)
            before = self._folders()
            built = make()
            new = self._folders() - before
            if found or len(new) == 1:
                self._places[key] = found or Path(*new.pop())
            self._keep([*itertools.islice(reversed(self._places), _LATEST)])
        return built

    def require_room(self, what: str) -> None:
        """Raise CompileError, about `what`, unless files can be written: PoCL ends the process where they cannot.

        It writes when a program is built, and again when an entry is first launched.
        """
        try:
            require_writable(self.work)
        except OSError as error:
            message = f"{what} cannot be compiled: {self.work} cannot be written ({error.strerror}); make room there, or set EP_CACHE_DIR to another folder"
            raise ep.CompileError(message) from None

    def enter(self) -> None:
        """Let the folder stay until `leave` is called as often."""
        with self._turn:
            self._users += 1

    def leave(self) -> None:
        """Keep the compiled programs, and remove the folder if the process ends and it has no other user."""
        with self._turn:
            self._users -= 1
            self._keep(self._places)
            self._remove()

    def _keep(self, keys: Iterable[str]) -> None:
        if self._kept is not None and os.getpid() == self._process:
            for key in keys:
                keep(self._kept, key, self.work, self._places[key])

    def _end(self) -> None:
        """Take note of the end of the process. EP closes its devices after this."""
        with self._turn:
            self._is_ending = True
            self._remove()

    def _remove(self) -> None:
        if self._is_ending and not self._users and os.getpid() == self._process:
            shutil.rmtree(self.work, ignore_errors=True)  # the next process removes any rest
            os.close(self._claim)
            self._users = -1

    def _folders(self) -> set[tuple[str, str]]:
        """Return the folders of programs: PoCL has two levels of them, the outer ones with names of two letters."""
        found: set[tuple[str, str]] = set()
        with contextlib.suppress(FileNotFoundError):  # somebody removed them, and PoCL makes them anew
            for outer in os.scandir(self.work):
                if len(outer.name) == _LETTERS:
                    found.update((outer.name, inner.name) for inner in os.scandir(outer.path))
        return found


def require_writable(folder: Path) -> None:
    """Make a folder, and write into it. Raises OSError if that fails."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as trial:
        trial.write(_TRIAL)
        trial.flush()


def _own(folder: Path) -> None:
    """Make a folder that only this user may use. Raises OSError if it is another user's."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.geteuid():
        raise PermissionError(None, "it is another user's", str(folder))
    folder.chmod(0o700)


def _claimed(parent: Path) -> tuple[Path, int]:
    """Return a new folder, and a lock that lasts as long as this process. Raises OSError."""
    while True:
        folder = Path(tempfile.mkdtemp(dir=parent))
        claim = _lock(folder)
        if claim is not None and folder.exists():
            require_writable(folder)
            return folder, claim
        if claim is not None:  # another process removed the folder between the two lines, as a dead process's
            os.close(claim)


def _clear(parent: Path) -> None:
    """Remove the folders of processes that did not come to remove them."""
    for folder in parent.iterdir():
        with contextlib.suppress(OSError):
            claim = _lock(folder)
            if claim is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(claim)


def _lock(folder: Path) -> int | None:
    """Return a lock on a folder; None if it is locked or gone. Raises OSError where there are no locks."""
    try:
        claim = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(claim)
        return None
    except OSError:
        os.close(claim)
        raise
    return claim


def _temporary(why: str) -> tuple[Path, int]:
    """Return a folder that goes with this process. Raises UnavailableError."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="ep-opencl-"))
        require_writable(folder)
    except OSError as error:
        message = f"{why}, and neither can {tempfile.gettempdir()} ({error.strerror}); {_CURE}"
        raise ep.UnavailableError(message) from None
    return folder, os.open(folder, os.O_RDONLY)
