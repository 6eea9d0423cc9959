"""Write the C source of a native module: `build_cffi.py MODULE INTERFACE... OUT`. Called by CMake."""

import sys
from pathlib import Path

from cffi import FFI, CDefError

_FEWEST = 3


def write(module: str, interfaces: list[Path], out: Path) -> None:
    """Write to `out` the module that gives Python what `interfaces` declare, each what those before it have.

    Raises ValueError, which names the interface, if one cannot be read.
    """
    ffi = FFI()
    for interface in interfaces:
        try:
            ffi.cdef(interface.read_text())
        except OSError as error:
            message = f"{interface}: {error.strerror}"
            raise ValueError(message) from error
        except CDefError as error:
            message = f"{interface}: {' '.join(str(error).split())}"
            raise ValueError(message) from error
    ffi.set_source(module, "\n".join(["#include <stdint.h>", *(f'#include "{each}"' for each in interfaces), ""]))
    ffi.emit_c_code(str(out))
    out.touch()  # cffi leaves a file alone whose text stays, and the build would call again and again


def main(words: list[str]) -> int:
    """Return the exit status."""
    if len(words) < _FEWEST:
        sys.stderr.write(f"build_cffi.py: give MODULE INTERFACE... OUT, given {words}\n")
        return 2
    try:
        write(words[0], [Path(text) for text in words[1:-1]], Path(words[-1]))
    except ValueError as error:
        sys.stderr.write(f"build_cffi.py: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
