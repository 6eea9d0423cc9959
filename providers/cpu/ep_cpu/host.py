"""Facts about this machine from the operating system."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from pathlib import Path
from typing import Final

__all__ = ["memory_available", "memory_size", "processor_name"]

_CGROUP: Final = Path("/sys/fs/cgroup")
_GROUPS: Final = Path("/proc/self/cgroup")
_MEMINFO: Final = Path("/proc/meminfo")
_CPUINFO: Final = Path("/proc/cpuinfo")


def processor_name() -> tuple[str, str]:
    """Return the processor's model name and vendor; without these facts, the architecture's name and ""."""
    try:
        lines = _CPUINFO.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    return facts.get("model name") or platform.processor() or platform.machine(), facts.get("vendor_id", "")


def memory_size() -> int:
    """Return the bytes of memory that this process may hope for: the machine's, or the least of its control groups'."""
    return min([os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), *_group_limits()])


def memory_available() -> int | None:
    """Return the bytes that the machine could give now without swapping; None where the system does not tell."""
    try:
        lines = _MEMINFO.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    kibibytes = next((line.split()[1] for line in lines if line.startswith("MemAvailable:")), "")
    return int(kibibytes) << 10 if kibibytes else None


def _group_limits() -> list[int]:
    """Return the limits that the control groups of this process set, of both versions, its outer groups' too."""
    try:
        lines = _GROUPS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    limits = []
    for _, controllers, path in (line.split(":", 2) for line in lines):
        if controllers and "memory" not in controllers.split(","):
            continue
        root, name = (_CGROUP / "memory", "memory.limit_in_bytes") if controllers else (_CGROUP, "memory.max")
        own = root / path.lstrip("/")
        for group in (own, *own.parents):
            with suppress(OSError):
                limit = (group / name).read_text(encoding="ascii").strip()
                limits += [int(limit)] if limit.isdecimal() else []
            if group == root:
                break
    return limits
