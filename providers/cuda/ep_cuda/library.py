"""Libraries of C functions through cffi, ready for signal handlers.

When cffi first meets the name of a type, or of a function, it works under a lock, and a handler that comes in the middle and
needs another name would wait for that lock for ever. So all names are met before any work is done.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cffi import FFI

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["declared", "in_wheels", "opened"]

_FUNCTION: Final = re.compile(r"(\w+)\(")


def declared(text: str, types: Iterable[str]) -> FFI:
    """Return the declarations of a text, one function a line, and of the types that callers name."""
    ffi = FFI()
    ffi.cdef(text)
    for name in types:
        ffi.typeof(name)
    return ffi


def opened(ffi: FFI, text: str, path: str) -> Any:
    """Return the library at a path with all functions of the text. Raises OSError without it, AttributeError without one of them."""
    library = ffi.dlopen(path)
    for line in text.splitlines():
        found = None if line.startswith(("typedef", " ", "}")) else _FUNCTION.search(line)
        if found:
            getattr(library, found[1])
    return library


def in_wheels(pattern: str) -> list[str]:
    """Return the libraries of a name in wheels of NVIDIA's, the newest first."""
    spec = importlib.util.find_spec("nvidia")
    roots = spec.submodule_search_locations or () if spec else ()
    return sorted((str(path) for root in roots for path in Path(root).glob(f"*/lib/{pattern}")), reverse=True)
