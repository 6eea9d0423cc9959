"""Builds the wheel into dist/, unless one of the very same sources is there, and prints its path."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = (
    "ep/ep",
    "primitives",
    "providers",
    "conformance",
    "benchmarks",
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
    """Return the wheel of the present sources, built if it is not there yet."""
    folder = ROOT / "dist" / source_hash()
    wheels = sorted(folder.glob("*.whl"))
    if not wheels:
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
        subprocess.run([*command, "--wheel-dir", str(folder), str(ROOT)], check=True)  # noqa: S603 - our own sources
        wheels = sorted(folder.glob("*.whl"))
    return wheels[0]


if __name__ == "__main__":
    print(build())
