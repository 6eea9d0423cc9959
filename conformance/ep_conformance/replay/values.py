"""Values of operands as JSON: bytes of arrays, deflated, and numbers without loss; nothing that is read is ever executed."""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from ep_primitives.judging.reference import array_dtype

import ep

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["digest", "values_json", "values_read"]

_MOST_TEXT: Final = 48 << 10
"""Characters of all arrays in a file: larger operands are drawn again from the case's seed."""

_MOST_READ: Final = 1 << 28
"""Bytes of an array that a file may hold."""

Array = npt.NDArray[Any]


def values_json(values: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return values by operand, arrays and numbers, as JSON; None if they are too large for a small file."""
    table = {
        name: _array_json(value) if isinstance(value, np.ndarray) else _number_json(value)
        for name, value in values.items()
    }
    size = sum(len(entry.get("bytes", "")) for entry in table.values())
    return table if size <= _MOST_TEXT else None


def values_read(table: Any) -> dict[str, Any]:
    """Return what `values_json` made of values. Raises KeyError, TypeError or ValueError for anything else."""
    if not isinstance(table, dict):
        message = f"{type(table).__name__} is no table of values"
        raise TypeError(message)
    return {str(name): _read(entry) for name, entry in table.items()}


def digest(values: Mapping[str, Any]) -> str:
    """Return a short text that equal values have in common, and no others but by chance."""
    total = 0
    for name, value in sorted(values.items()):
        array = np.asarray(value)
        head = f"{name} {array.dtype} {array.shape}".encode()
        total = zlib.crc32(_raw(array), zlib.crc32(head, total))
    return f"{total:08x}"


def _array_json(array: Array) -> dict[str, Any]:
    text = base64.b64encode(zlib.compress(_raw(array), 9)).decode()
    return {"dtype": array.dtype.name, "shape": [*array.shape], "bytes": text}


def _raw(array: Array) -> bytes:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).tobytes()


def _number_json(value: Any) -> dict[str, Any]:
    item = value.item() if isinstance(value, np.generic) else value
    if isinstance(item, complex):
        return {"complex": [item.real.hex(), item.imag.hex()]}
    return (
        {"float": item.hex()}
        if isinstance(item, float)
        else {"integer": str(int(item)), "is_bool": isinstance(item, bool)}
    )


def _read(entry: Any) -> Any:
    match entry:
        case {"dtype": str(dtype), "shape": list(shape), "bytes": str(text)}:
            return _array_read(dtype, shape, text)
        case {"complex": [str(real), str(imag)]}:
            return complex(float.fromhex(real), float.fromhex(imag))
        case {"float": str(digits)}:
            return float.fromhex(digits)
        case {"integer": str(digits), "is_bool": bool(is_bool)}:
            return bool(int(digits)) if is_bool else int(digits)
    message = f"{str(entry)[:80]!r} is neither an array nor a number"
    raise TypeError(message)


def _array_read(dtype: str, shape: list[Any], text: str) -> Array:
    spec = ep.TensorSpec(dtype, tuple(shape))
    if spec.nbytes > _MOST_READ:
        message = f"an array of {spec.nbytes} bytes; at most {_MOST_READ} are read"
        raise ValueError(message)
    inflater = zlib.decompressobj()
    try:
        raw = inflater.decompress(base64.b64decode(text, validate=True), max(spec.nbytes, 1))
    except (binascii.Error, zlib.error) as error:
        message = f"bytes of an array are damaged: {error}"
        raise ValueError(message) from None
    if len(raw) != spec.nbytes or inflater.decompress(inflater.unconsumed_tail, 1):
        message = (
            f"an array {dtype} {spec.shape} has {len(raw)} bytes or more, needs {math.prod(spec.shape) * spec.itemsize}"
        )
        raise ValueError(message)
    return np.frombuffer(bytearray(raw), array_dtype(dtype)).reshape(spec.shape)
