"""One program, compiled: for each architecture, and once to PTX, which is searched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ep_cuda.compiler.nvrtc import nvrtc
from ep_cuda.compiler.program import PRELUDE

import ep

if TYPE_CHECKING:
    from collections.abc import Iterable

    import ep_simt

__all__ = ["ARCHITECTURES", "fault_of", "searched"]

ARCHITECTURES: Final = (75, 80, 90, 100)
"""Compute capabilities, as 10 * major + minor: of Turing, Ampere, Hopper and Blackwell."""
_READ: Final = 90
"""The one whose PTX is searched."""


def fault_of(program: ep_simt.Program, architectures: Iterable[int] = ARCHITECTURES) -> str:
    """Return what is wrong with a program, behind its name; "" if nothing is.

    It has to compile for each architecture, with all its entries; no array may go to thread-local memory, no double
    into a program without doubles; shared memory is for groups.
    """
    compiler, source = nvrtc(), program.source(PRELUDE)
    try:
        ptx = compiler.compile(source, program.name, compiler.options(_READ, as_ptx=True)).rstrip(b"\0").decode()
        for architecture in architectures:
            compiler.compile(source, program.name, compiler.options(architecture))
    except (ep.CompileError, ep.UnsupportedError) as error:
        return f"{program.name}: {error}"
    findings = searched(program, ptx)
    return f"{program.name}: {'; '.join(findings)}" if findings else ""


def searched(program: ep_simt.Program, ptx: str) -> list[str]:
    """Return what a program's PTX has that it should not have, or lacks."""
    words = dict(program.words)
    entries, needed = sorted(re.findall(r"\.entry (\w+)", ptx)), sorted(entry.name for entry in program.entries)
    findings = {
        f"its entries are {entries}, needed {needed}": entries != needed,
        "an array went to thread-local memory": ".local" in ptx,
        "shared memory is for groups, and theirs is shared": (".shared" in ptx) != ("EP_GROUP" in words),
        "a double slipped into a program without doubles": ".f64" in ptx and not words["EP_HAS_F64"],
    }
    return [finding for finding, is_so in findings.items() if is_so]
