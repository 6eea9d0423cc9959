"""Tensors of other libraries as operands: used in place, never copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ep.dtypes import DTYPES
from ep.exchange import dlpack
from ep.exchange.export import Exported
from ep.exchange.foreign import require_reach, wrap_host, wrap_memory
from ep.exchange.producer import read, spec_of
from ep.exchange.tensor import Tensor

if TYPE_CHECKING:
    from ep.layout.spec import Scalar, TensorSpec
    from ep.memory.memory import Memory
    from ep.stream.device import Device
    from ep.stream.stream import Stream

__all__ = ["describe", "operand_memory", "view"]


def describe(obj: Any, where: str = "TensorSpec.of") -> TensorSpec:
    """Return the spec of a tensor wherever it lies; see TensorSpec.of. `where` begins what errors say."""
    if type(obj) is Tensor:
        return obj.spec
    tensor, _ = read(obj, where, None, None)
    return spec_of(tensor, where)


def view(obj: Any, stream: Stream) -> tuple[Memory, TensorSpec]:
    """Return an object's own memory, and how its tensor lies in it. Nothing is copied.

    obj     : NumPy array, object with DLPack, an array interface (NumPy's or CUDA's) or a buffer, or an Exported of
              `stream.export`; kept alive until no work can touch it. An object that is read-only, or cannot tell, is
              read-only here
    stream  : one of the device that will use it; its later work waits for what the producer has enqueued

    Raises ValueError, naming stream.upload, if the stream's device does not reach the object's memory; TypeError for
    an object with none of the protocols.
    """
    where = "ep.view: obj"
    if not hasattr(stream, "_submit"):
        message = f"ep.view: stream is {type(stream).__name__}, needs a Stream of the device that will use the object"
        raise TypeError(message)
    stream._require_open("ep.view")
    if type(obj) is Tensor and obj.device is stream.device:
        obj.memory._require_open(where)
        return obj.memory, obj.spec
    if type(obj) is Exported and obj.device is stream.device:
        return obj._lend(stream), obj.spec
    tensor, owner = read(obj, where, stream.device, stream)
    spec = spec_of(tensor, where)
    return _memory(tensor, spec, owner, where, stream.device), spec


def operand_memory(where: str, obj: Any, spec: TensorSpec | Scalar, device: Device, *, written: bool) -> Memory:
    """Return the memory of a launch operand that is a Tensor, or another library's tensor in host memory.

    Raises ValueError if its spec is not `spec`, if it is read-only but written, or if the device does not reach it.
    """
    if type(obj) is Tensor:
        _check_description(where, obj.spec, spec)
        return obj.memory
    tensor, owner = read(obj, where, device, None)
    require_reach(where, tensor.device, device)
    if tensor.device[0] not in dlpack.HOST:
        message = f"{where} is on DLPack device type {tensor.device[0]}, whose streams a launch does not know; give the memory that ep.view(obj, stream) returns"
        raise ValueError(message)
    have = spec_of(tensor, where)
    _check_description(where, have, spec)
    if written and tensor.is_read_only:
        message = f"{where} is read-only and would be written; give a writable array"
        raise ValueError(message)
    return _memory(tensor, have, owner, where, device)


def _check_description(where: str, have: TensorSpec, needed: TensorSpec | Scalar) -> None:
    if have != needed:
        message = (
            f"{where} is {have}, needs {needed}; give a tensor of that description, or infer a descriptor from this one"
        )
        raise ValueError(message)


def _memory(tensor: dlpack.Tensor, spec: TensorSpec, owner: object, where: str, device: Device) -> Memory:
    """Return the memory of a tensor, from its lowest element on."""
    require_reach(where, tensor.device, device)
    is_read_only = tensor.is_read_only
    if not spec.nbytes:
        return device.allocate(0)  # no bytes to share, and no pointer to them
    begin = tensor.begin - spec.offset * spec.itemsize
    is_host = tensor.device[0] in dlpack.HOST
    is_opaque = not is_host and device.twin.is_opaque  # else it would be out of the device's reach
    alignment = spec.itemsize // (2 if DTYPES[spec.dtype].kind == "c" else 1)
    if (begin if is_opaque else tensor.data + begin) % alignment:
        message = f"{where} does not start at a multiple of its itemsize {spec.itemsize}; give an aligned copy"
        raise ValueError(message)
    if is_opaque:
        return wrap_memory(device, tensor.data, spec.nbytes, owner, is_read_only=is_read_only, offset=begin)
    wrap = wrap_host if is_host else wrap_memory
    return wrap(device, tensor.data + begin, spec.nbytes, owner, is_read_only=is_read_only)
