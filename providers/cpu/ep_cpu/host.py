"""What the operating system says about this machine."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Final

__all__ = ["memory_size", "processor_name"]

_CGROUP: Final = Path("/sys/fs/cgroup/memory.max")
_CPUINFO: Final = Path("/proc/cpuinfo")


def processor_name() -> tuple[str, str]:
    """Return the processor's model name and its vendor; the architecture's name and "" where nobody tells."""
    try:
        lines = _CPUINFO.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    return facts.get("model name") or platform.processor() or platform.machine(), facts.get("vendor_id", "")


def memory_size() -> int:
    """Return the bytes of memory that this process may hope for: the machine's, or its control group's if less."""
    size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        limit = _CGROUP.read_text(encoding="ascii").strip()
    except OSError:
        return size
    return min(size, int(limit)) if limit.isdecimal() else size
