"""Where the library lies, and the environment in which programs find it."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ep.folders import cache_folder

import ep_cuda_emulator

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MissingError", "environment", "library"]

_NAME: Final = "libcuda.so.1"
_NVCC: Final = files(ep_cuda_emulator).joinpath("nvcc.sh")


_NUMBERS: Final = {
    "EP_CUDA_EMULATOR_DEVICES": (0, 8),
    "EP_CUDA_EMULATOR_MEMORY": (1 << 20, 8 << 30),
    "EP_CUDA_EMULATOR_ARCHITECTURE": (50, 200),
    "EP_CUDA_EMULATOR_SEED": (0, (1 << 64) - 1),
    "EP_CUDA_EMULATOR_PATIENCE": (1, (1 << 64) - 1),
    "EP_CUDA_EMULATOR_THREADS": (1, 1024),
    "EP_CUDA_EMULATOR_VERSION": (1000, 99999),
}
"""Variables that are numbers, with the least and the largest."""


class MissingError(RuntimeError):
    """The library was not built, or what translates is not installed; the message says what to do."""


def library() -> Path:
    """Return the library's path. Raises MissingError."""
    for folder in ep_cuda_emulator.__path__:
        path = Path(folder, "lib", _NAME)
        if path.exists():
            return path
    message = "the emulated driver was not built; it needs Linux on x86-64 and g++, and EP_BUILD_CPU=0 leaves it out"
    raise MissingError(message)


def environment(given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return an environment whose programs take the library for NVIDIA's driver. Raises MissingError, and ValueError for a variable that is no such number."""
    _check(given)
    try:
        import llvmlite  # noqa: F401, PLC0415 - the process that translates needs it
    except ImportError as error:
        message = f"llvmlite, which compiles the translated kernels, is not installed ({error}); pip install 'execution-provider[cuda-emulator]' brings it"
        raise MissingError(message) from error
    shim = _shim(given.get("PATH", ""))
    folders = [str(library().parent), *filter(None, [given.get("LD_LIBRARY_PATH", "")])]
    return {
        **given,
        "LD_LIBRARY_PATH": os.pathsep.join(folders),
        "PATH": os.pathsep.join(filter(None, (shim, given.get("PATH", "")))),
        "EP_CUDA_EMULATOR_PYTHON": sys.executable,
    }


def _check(given: Mapping[str, str]) -> None:
    """Refuse numbers that the library would take for others."""
    for name, (least, most) in _NUMBERS.items():
        text = given.get(name, str(least))
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            message = f"{name} is {text!r}, needs a number from {least} to {most}"
            raise ValueError(message)


def _shim(path: str) -> str:
    """Return a folder with an nvcc that makes PTX where programs ask for code of a device; "" if there is no nvcc."""
    if shutil.which("nvcc", path=path) is None:
        return ""
    folder = cache_folder() / "cuda-emulator"
    place = folder / "nvcc"
    text = _NVCC.read_text(encoding="utf-8")
    if not place.exists() or place.read_text(encoding="utf-8") != text:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial = folder / f"nvcc.{os.getpid()}"
        partial.write_text(text, encoding="utf-8")
        partial.chmod(0o700)
        partial.replace(place)
    return str(folder)
