"""Write the C source of a native module: `build_cffi.py MODULE interface.h ... out.c`. Called by CMake."""

import sys
from pathlib import Path

from cffi import FFI


def main(module: str, interfaces: list[Path], out: Path) -> None:
    """Write to `out` the module that gives Python what `interfaces` declare, each what those before it have."""
    ffi = FFI()
    for interface in interfaces:
        ffi.cdef(interface.read_text())
    ffi.set_source(module, "\n".join(["#include <stdint.h>", *(f'#include "{each}"' for each in interfaces), ""]))
    ffi.emit_c_code(str(out))


if __name__ == "__main__":
    main(sys.argv[1], [Path(text) for text in sys.argv[2:-1]], Path(sys.argv[-1]))
