"""The memory of this process, and the free memory of the machine, as the system reports them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PeakMemory", "be_killed_first", "free_memory", "give_back"]

_GROUP_FILES: Final = {
    "": ("sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    "memory": ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""For control groups, version 2 and 1: folder, limit, usage, and the part of the usage that is reclaimable."""

_KIB: Final = 1024


class PeakMemory:
    """The most memory that this process held at once."""

    def __init__(self) -> None:
        self._seen = -1
        self._bytes = 0

    def read(self) -> int:
        """Return it in bytes, 0 where the system does not say."""
        try:
            import resource  # noqa: PLC0415 - POSIX alone has it
        except ImportError:
            return 0
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if most != self._seen:
            self._seen = most
            # On Linux that begins with the size of the process that started this one; the other file takes 100 times as long.
            said = _field(Path("/proc/self/status"), "VmHWM:")
            self._bytes = most * (1 if sys.platform == "darwin" else _KIB) if said is None else said * _KIB
        return self._bytes


def free_memory(root: Path = Path("/")) -> int | None:
    """Return how many bytes may be taken before the machine, or a control group of this process, runs out; None if unknown."""
    free = _field(root / "proc/meminfo", "MemAvailable:")
    if free is None:
        with contextlib.suppress(AttributeError, OSError, ValueError):
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
        return None
    return max(0, min(free * _KIB, *_rooms(root)))


def be_killed_first() -> None:
    """Let Linux end this process first if memory runs out nevertheless."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def give_back() -> None:
    """Let the C library give back the pages that it keeps for the next large array."""
    with contextlib.suppress(OSError, AttributeError):  # glibc alone has it
        ctypes.CDLL(None).malloc_trim(0)


def _rooms(root: Path) -> Iterator[int]:
    """Yield how many bytes each control group leaves that this process is in."""
    yield sys.maxsize
    with contextlib.suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, kinds, path = line.split(":", 2)
            for kind in _GROUP_FILES.keys() & kinds.split(","):
                folder, limit, usage, spare = _GROUP_FILES[kind]
                place = Path(path.strip("/"))
                for group in (place, *place.parents):
                    at = root / folder / group
                    most, used = _number(at / limit), _number(at / usage)
                    if most is not None and used is not None:
                        yield most - used + (_field(at / "memory.stat", spare) or 0)


def _number(file: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError):  # "max" is no number
        return int(file.read_text(encoding="ascii"))
    return None


def _field(file: Path, name: str) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        for line in file.read_text(encoding="utf-8").splitlines():
            key, *words = line.split()
            if key == name:
                return int(words[0])
    return None
