"""The record: of each family and op the digest of the programs that were compiled last."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ep_tools.compiled.check import ARCHITECTURES
from ep_tools.folders import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FILE", "compiler", "read", "write"]

FILE: Final = ROOT / "providers/cuda/programs.txt"

_HEAD: Final = """\
# The programs of CUDA that NVRTC {version} compiled for {architectures}, and whose PTX was searched: of each
# family and op how many, and a digest of their sources. Those that have changed since are compiled, a part of them, by each
# run of the tests, and all of them by `python tools cuda-programs`, which writes this file.
"""


def read() -> dict[str, str]:
    """Return the digests by family and op; {} without a file."""
    if not FILE.exists():
        return {}
    lines = FILE.read_text(encoding="utf-8").splitlines()
    fields = [line.split() for line in lines if not line.startswith("#")]
    return {name: digest for name, _, digest in fields}


def compiler() -> str:
    """Return the version of the NVRTC that compiled all that is recorded; "" without a file."""
    match = re.match(r"# .* NVRTC (\S+) compiled", FILE.read_text(encoding="utf-8")) if FILE.exists() else None
    return match[1] if match else ""


def write(version: str, counts: Mapping[str, int], digests: Mapping[str, str]) -> None:
    """Write the file.

    version : of NVRTC
    counts  : of each family and op its programs, all of them
    digests : of those that were compiled
    """
    names = ", ".join(f"sm_{each}" for each in ARCHITECTURES)
    rows = [f"{name:<40} {counts[name]:4} {digests[name]}\n" for name in counts if name in digests]
    FILE.write_text(_HEAD.format(version=version, architectures=names) + "".join(rows), encoding="utf-8")
