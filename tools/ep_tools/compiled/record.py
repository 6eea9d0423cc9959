"""The record: of each family and op the programs that were compiled last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ep_tools.compiled.check import ARCHITECTURES
from ep_tools.folders import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FILE", "Row", "read", "write"]

FILE: Final = ROOT / "providers/cuda/programs.txt"

_HEAD: Final = f"""\
# The programs of CUDA that NVRTC compiled for {", ".join(f"sm_{each}" for each in ARCHITECTURES)}, and whose PTX was searched: of each family and op
# how many, by which release, and a digest of their sources. Those that have changed since are compiled, a part of them, by
# each run of the tests, and all of them by `python tools cuda-programs`, which writes this file.
"""


class Row(NamedTuple):
    """The programs of a family and op.

    programs : how many
    version  : of the NVRTC that compiled them
    digest   : of their sources
    """

    programs: int
    version: str
    digest: str


def read() -> dict[str, Row]:
    """Return the rows by family and op; {} without a file."""
    if not FILE.exists():
        return {}
    lines = FILE.read_text(encoding="utf-8").splitlines()
    fields = [line.split() for line in lines if not line.startswith("#")]
    return {name: Row(int(count), version, digest) for name, count, version, digest in fields}


def write(rows: Mapping[str, Row]) -> None:
    """Write the file."""
    lines = [f"{name:<40} {row.programs:4} {row.version:>6} {row.digest}\n" for name, row in sorted(rows.items())]
    FILE.write_text(_HEAD + "".join(lines), encoding="utf-8")
