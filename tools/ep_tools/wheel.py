"""Build the wheel into dist/, unless one of the very same sources is there, and print its path."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import sysconfig
from typing import TYPE_CHECKING, Final

import click

from ep_tools.folders import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SOURCES: Final = (
    "ep/ep",
    "primitives",
    "providers",
    "conformance",
    "benchmarks",
    "collectives",
    "sharded",
    "frameworks",
    "tools/install",
    "pyproject.toml",
    "CMakeLists.txt",
    "LICENSE",
    "README.md",
)


def source_hash() -> str:
    """Return a hash over all that makes the wheel: the files in it, the interpreter, and whether the CPU is built."""
    digest = hashlib.sha256(
        f"{sysconfig.get_platform()} {sys.version_info[:2]} {os.environ.get('EP_BUILD_CPU')}".encode()
    )
    for top in SOURCES:
        path = ROOT / top
        files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        for file in files:
            if "__pycache__" not in file.parts and "tests" not in file.parts:
                digest.update(str(file.relative_to(ROOT)).encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def build() -> Path:
    """Return the wheel of the present sources, built if it is not there yet.

    Raises click.ClickException if it cannot be built.
    """
    folder = ROOT / "dist" / source_hash()
    wheels = sorted(folder.glob("*.whl"))
    if not wheels:
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
        done = subprocess.run([*command, "--wheel-dir", str(folder), str(ROOT)], check=False)  # noqa: S603 - our own sources
        wheels = sorted(folder.glob("*.whl"))
        if done.returncode or not wheels:
            message = f"the wheel of {ROOT} was not built; what pip said stands above"
            raise click.ClickException(message)
    return wheels[0]


@click.command()
def command() -> None:
    """Build the wheel, once for each state of the sources, and print its path."""
    click.echo(build())
