"""Write the claims of ep_cuda for its kernels, below those of its runtime: providers/cuda/ep_cuda/claims.toml."""

from __future__ import annotations

from typing import Final

import click

from ep_tools.folders import ROOT
from ep_tools.generated.portable import LINE, portable_claims
from ep_tools.renew import renew

FILE: Final = ROOT / "providers/cuda/ep_cuda/claims.toml"

_LINE: Final = LINE.format("cuda-claims")


def text() -> str:
    """Return the file: what stands above the line in it, and the claims below. Every device of CUDA has all features."""
    own, _, _ = FILE.read_text(encoding="utf-8").partition(_LINE)
    return f"{own}{_LINE}{portable_claims()}"


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if it is not of today.")
def command(*, check: bool) -> None:
    """Write the file."""
    renew(FILE, text(), check=check, name="cuda-claims")
