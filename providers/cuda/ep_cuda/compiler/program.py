"""Building programs: this room's prelude, then ep_simt's source, through NVRTC."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Final

from ep_cuda.compiler.kept import kept
from ep_cuda.compiler.nvrtc import nvrtc

if TYPE_CHECKING:
    from ep_simt import Program

__all__ = ["PRELUDE", "image_of"]

PRELUDE: Final = files(__package__).joinpath("prelude.h").read_text(encoding="utf-8")
"""The words of the dialect in CUDA C."""


def image_of(architecture: int, program: Program, *, as_ptx: bool = False) -> bytes:
    """Return what the driver loads of a program, for a compute capability of 10 * major + minor. Raises CompileError.

    as_ptx : True for a driver that translates PTX and takes no code of a device
    """
    compiler, source = nvrtc(), program.source(PRELUDE)
    options = compiler.options(architecture, as_ptx=as_ptx)
    key = "\n".join((f"NVRTC {compiler.version}", *options, source))
    return kept(key, lambda: compiler.compile(source, program.name, options))
