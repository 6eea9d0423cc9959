"""The loops of loops.c, compiled for this processor when they are needed: its limits are not EP's, so nothing of EP's is used."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["UNITS", "Traffic", "compiled"]

UNITS: Final = ("float32", "float64", "bfloat16", "float16", "int8")
"""Element types of products, by their number in loops.c."""

_FLAGS: Final = ("-O3", "-ffp-contract=fast", "-shared", "-fPIC", "-pthread")
_SECONDS: Final = 60


class Traffic(ctypes.Structure):
    """`struct traffic`: three addresses, and vectors of each kind of movement."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in "abc"),
        *((name, ctypes.c_int64) for name in ("adds", "copies", "reads", "fills", "way")),
    )


@cache
def compiled() -> ctypes.CDLL | None:
    """Return the compiled loops, None without a C compiler (CC names one). Takes half a second, once a process.

    Compiled anew in each process and not kept: a kept file would have to know the processor that it was made for.
    """
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "loops.so")
        for more in (("-march=native",), ("-mcpu=native",), ()):
            command = [compiler, *_FLAGS, *more, str(Path(__file__).with_name("loops.c")), "-o", str(made)]
            if _succeeds(command):
                return _loaded(made)
    return None


def _succeeds(command: list[str]) -> bool:
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603 - cc, or the user's CC
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _loaded(made: Path) -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL(str(made))
    except OSError:  # a folder for temporary files that forbids it
        return None
    library.limits_open.argtypes = (ctypes.c_int,)
    library.limits_vector.restype = ctypes.c_int64
    library.limits_move.argtypes = (ctypes.POINTER(Traffic), ctypes.c_long, ctypes.c_int)
    library.limits_move.restype = None
    library.limits_flops.argtypes = (ctypes.c_int,)
    library.limits_flops.restype = ctypes.c_double
    library.limits_multiply.argtypes = (ctypes.c_int, ctypes.c_long, ctypes.c_int)
    library.limits_multiply.restype = None
    return library
