"""The initial value of a variable, as bytes."""

from __future__ import annotations

import re
from typing import Final

from ep_cuda_emulator.ptx.module import BYTES, Variable
from ep_cuda_emulator.ptx.words import PtxError

__all__ = ["initial_bytes"]

_BITS: Final = re.compile(r"0[fFdD]([0-9a-fA-F]+)$")


def initial_bytes(variable: Variable) -> bytes:
    """Return the bytes that a variable begins with; the rest of it is zero. Raises PtxError for addresses of others."""
    size = BYTES[variable.type]
    content = bytearray()
    sign = 1
    for word in variable.words:
        if word in {"{", "}", ","}:
            continue
        if word == "-":
            sign = -1
            continue
        found = _BITS.match(word)
        try:
            value = int(found[1], 16) if found else sign * int(word.rstrip("U"), 0)
        except ValueError:
            message = f"the initial value of {variable.name} has {word}, an address, which is not emulated"
            raise PtxError(0, message, is_supported=False) from None
        content += (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        sign = 1
    return bytes(content)
