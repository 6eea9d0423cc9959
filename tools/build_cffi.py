"""Write the C source of a native module: `build_cffi.py MODULE interface.h out.c`. Called by CMake."""

import sys
from pathlib import Path

from cffi import FFI


def main(module: str, interface: Path, out: Path) -> None:
    """Write to `out` the module that gives Python what `interface` declares."""
    ffi = FFI()
    ffi.cdef(interface.read_text())
    ffi.set_source(module, f'#include <stdint.h>\n#include "{interface.name}"\n')
    ffi.emit_c_code(str(out))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
