# ruff: noqa: INP001 - a script of the build, not a package
"""Write the C source of ep_cpu._native: `build_cffi.py interface.h out.c`. Called by CMake."""

import sys
from pathlib import Path

from cffi import FFI


def main(interface: Path, out: Path) -> None:
    """Write to `out` the module that gives Python what `interface` declares."""
    ffi = FFI()
    ffi.cdef(interface.read_text())
    ffi.set_source("ep_cpu._native", f'#include <stdint.h>\n#include "{interface.name}"\n')
    ffi.emit_c_code(str(out))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
