"""The CUDA array interface, version 3: how Numba, CuPy and others describe memory of CUDA devices."""

from __future__ import annotations

from typing import Any, Final

from ep.dtypes import DTYPES
from ep.exchange import dlpack
from ep.ground.glimpse import glimpse
from ep.integers import integer, taken
from ep.layout.spec import MAX_RANK

__all__ = ["read"]

_SPECIAL: Final = frozenset({"bfloat16", "float8_e4m3fn", "float8_e5m2"})
_NAMES: Final = {f"{row.kind}{row.itemsize}": name for name, row in DTYPES.items() if name not in _SPECIAL}
_AMBIGUOUS: Final = 0


def read(obj: Any, index: int) -> tuple[dlpack.Tensor, int | None]:
    """Return what `obj.__cuda_array_interface__` says, and the handle of the stream to wait for, None for none.

    index : the device's, which the interface leaves out and the caller knows

    Raises BufferError for an element type that EP lacks, strides between elements, a mask, or stream 0. A dictionary
    with other contents raises the error of its own access.
    """
    interface: dict[str, Any] = obj.__cuda_array_interface__
    typestr = interface["typestr"]
    dtype = _NAMES.get(typestr[1:])
    if dtype is None or typestr[0] == ">":
        message = f"its element type {glimpse(typestr)} is none of EP's"
        raise BufferError(message)
    if interface.get("mask") is not None:
        message = "it has a mask, which tensors of EP have not"
        raise BufferError(message)
    address, is_read_only = interface["data"]
    shape = _integers("shape", interface["shape"])
    strides, itemsize = interface.get("strides"), DTYPES[dtype].itemsize
    if strides is not None:
        strides = _integers("strides", strides)
        if any(stride % itemsize for stride in strides):
            message = f"its strides {strides} are not multiples of the itemsize {itemsize}"
            raise BufferError(message)
        strides = tuple(stride // itemsize for stride in strides)
    address = integer("its address", address)
    tensor = dlpack.Tensor((dlpack.CUDA, index), address, 0, dtype, shape, strides, bool(is_read_only))
    return tensor, _producer_stream(interface)


def _integers(name: str, values: Any) -> tuple[int, ...]:
    integers = tuple([integer(f"its {name}", value) for value in taken(values, MAX_RANK)])
    if len(integers) > MAX_RANK:
        message = f"its {name} has more than {MAX_RANK} values"
        raise BufferError(message)
    return integers


def _producer_stream(interface: dict[str, Any]) -> int | None:
    stream: int | None = interface.get("stream")
    if stream == _AMBIGUOUS:
        message = "its stream is 0, which could be any of None, 1 and 2"
        raise BufferError(message)
    return stream
