"""The CUDA array interface, version 3: how Numba, CuPy and others describe memory of CUDA devices."""

from __future__ import annotations

from typing import Any, Final

from ep import dlpack
from ep.dtypes import DTYPES

__all__ = ["producer_stream", "read"]

_SPECIAL: Final = frozenset({"bfloat16", "float8_e4m3fn", "float8_e5m2"})
_NAMES: Final = {f"{row.kind}{row.itemsize}": name for name, row in DTYPES.items() if name not in _SPECIAL}
_AMBIGUOUS: Final = 0


def read(interface: dict[str, Any], index: int) -> dlpack.Tensor:
    """Return what `obj.__cuda_array_interface__` says; it leaves out the device's index, which the caller knows.

    Raises BufferError for an element type that EP lacks, strides between elements, or a mask.
    """
    typestr = interface["typestr"]
    dtype = _NAMES.get(typestr[1:])
    if dtype is None or typestr[0] == ">":
        message = f"its element type {typestr} is none of EP's"
        raise BufferError(message)
    if interface.get("mask") is not None:
        message = "it has a mask, which tensors of EP have not"
        raise BufferError(message)
    address, is_read_only = interface["data"]
    strides, itemsize = interface.get("strides"), DTYPES[dtype].itemsize
    if strides is not None:
        if any(stride % itemsize for stride in strides):
            message = f"its strides {strides} are not multiples of the itemsize {itemsize}"
            raise BufferError(message)
        strides = tuple(stride // itemsize for stride in strides)
    return dlpack.Tensor(
        (dlpack.CUDA, index), address, 0, dtype, tuple(interface["shape"]), strides, bool(is_read_only)
    )


def producer_stream(interface: dict[str, Any]) -> int | None:
    """Return the handle of the stream that the consumer must wait for, None if for none. Raises BufferError for 0."""
    stream: int | None = interface.get("stream")
    if stream == _AMBIGUOUS:
        message = "its stream is 0, which could be any of None, 1 and 2"
        raise BufferError(message)
    return stream
