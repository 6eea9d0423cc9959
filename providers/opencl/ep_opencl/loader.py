"""The OpenCL loader that pyopencl is linked with, for calls that pyopencl does not make as they are needed."""

from __future__ import annotations

import ctypes
from typing import Final

import pyopencl as cl

__all__ = ["LOADER"]

LOADER: Final = ctypes.CDLL(cl._cl.__file__)  # noqa: SLF001 - the one way to the loader that made pyopencl's objects
"""A symbol is looked up in what a library is linked with, too."""
