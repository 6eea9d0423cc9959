"""Host tensors of others as operands: NumPy arrays and DLPack objects, seen in place and never copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ep.dtypes import DTYPES
from ep.spec import Scalar, TensorSpec

if TYPE_CHECKING:
    import numpy as np

    from ep.device import Device
    from ep.memory import Memory
    from ep.stream import Stream

__all__ = ["describe", "operand_memory", "view"]

_DLPACK_HOST: Final = frozenset({1, 3})  # kDLCPU and kDLCUDAHost, dlpack.h


def describe(obj: Any) -> TensorSpec:
    """Return the spec of a host tensor; see TensorSpec.of."""
    return _spec(_array(obj, "TensorSpec.of"), "TensorSpec.of")


def view(obj: Any, stream: Stream) -> tuple[Memory, TensorSpec]:
    """Return an object's own memory, and how its tensor lies in it. Nothing is copied.

    obj     : NumPy array, buffer or DLPack object; kept alive until no work can touch it; read-only ones stay so
    stream  : one of the device that will use it

    Raises ValueError, naming stream.upload, if the stream's device does not reach the object's memory; TypeError for
    an object with none of the protocols.
    """
    if not hasattr(stream, "device"):
        message = f"ep.view: stream is {type(stream).__name__}, needs a Stream of the device that will use the object"
        raise TypeError(message)
    array = _array(obj, "ep.view")
    return _memory(array, "ep.view: obj", stream.device), _spec(array, "ep.view: obj")


def operand_memory(where: str, obj: Any, spec: TensorSpec | Scalar, device: Device, *, written: bool) -> Memory:
    """Return the memory of a launch operand that is not a Memory.

    Raises ValueError if it lies otherwise than `spec` says, is read-only but written, or out of the device's reach.
    """
    array = _array(obj, where)
    _require_reach(where, device)
    have = _spec(array, where)
    if have != spec:
        message = f"{where} is {have}, needs {spec}; make the descriptor with TensorSpec.of(array)"
        raise ValueError(message)
    if written and not array.flags.writeable:
        message = f"{where} is read-only and would be written; give a writable array"
        raise ValueError(message)
    return _memory(array, where, device)


def _memory(array: np.ndarray[Any, Any], where: str, device: Device) -> Memory:
    _require_reach(where, device)
    if not array.flags.aligned:
        message = f"{where} does not start at a multiple of its itemsize {array.itemsize}; give an aligned copy"
        raise ValueError(message)
    spec = _spec(array, where)
    address = array.ctypes.data - spec.offset * spec.itemsize
    return device.wrap_host(address, spec.nbytes, array, is_read_only=not array.flags.writeable)


def _require_reach(where: str, device: Device) -> None:
    if not device.reaches_host:
        message = f"{where} is host memory, which {device.name} does not reach; copy it there with stream.upload"
        raise ValueError(message)


def _spec(array: np.ndarray[Any, Any], where: str) -> TensorSpec:
    name = array.dtype.name
    if name not in DTYPES or not array.dtype.isnative:
        message = f"{where} has element type {array.dtype}, which is not one of EP's: {', '.join(DTYPES)}; convert it with astype"
        raise ValueError(message)
    strides = []
    for axis, stride in enumerate(array.strides):
        if stride % array.itemsize:
            message = (
                f"{where} has stride {stride} along axis {axis}, which is not a multiple of the itemsize "
                f"{array.itemsize}; copy the array"
            )
            raise ValueError(message)
        strides.append(stride // array.itemsize)
    # NumPy's pointer is at index (0, ..., 0); the memory begins where the lowest element is.
    below = sum((e - 1) * s for e, s in zip(array.shape, strides, strict=True) if s < 0) if array.size else 0
    if array.flags.c_contiguous:
        return TensorSpec(name, array.shape)
    return TensorSpec(name, array.shape, tuple(strides), -below)


def _array(obj: Any, where: str) -> np.ndarray[Any, Any]:
    """Return a NumPy array over the object's own memory."""
    import numpy as np  # noqa: PLC0415 - only interchange needs it, and `import ep` must not

    if isinstance(obj, np.ndarray):
        return obj
    if hasattr(obj, "__dlpack__"):
        kind = obj.__dlpack_device__()[0]
        if kind not in _DLPACK_HOST:
            message = (
                f"{where} is on DLPack device type {int(kind)}, not in host memory; copy it there with stream.upload"
            )
            raise ValueError(message)
        try:
            return np.from_dlpack(obj)
        except (BufferError, RuntimeError, TypeError) as error:
            message = f"{where}: {type(obj).__name__} cannot be seen through DLPack: {error}"
            raise ValueError(message) from error
    try:
        return np.asarray(memoryview(obj))
    except TypeError:
        message = f"{where} is {type(obj).__name__}, needs a Memory, a NumPy array, or a buffer or DLPack object"
        raise TypeError(message) from None
