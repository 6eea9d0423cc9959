"""What the tensors of other libraries say of themselves: arrays, buffers, DLPack, NumPy's and CUDA's array interfaces."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any, Final

from ep import cuda_array, dlpack
from ep.dtypes import DTYPES
from ep.foreign import require_reach

if TYPE_CHECKING:
    import numpy as np

    from ep.device import Device
    from ep.stream import Stream

__all__ = ["read"]

_NO_WAIT: Final = -1


def read(obj: Any, where: str, device: Device | None, stream: Stream | None) -> tuple[dlpack.Tensor, object]:
    """Return what an object says of its tensor, and what keeps that alive.

    device  : the one that will use it; None: it is only looked at
    stream  : its later work is ordered after what the producer enqueued; None: nobody touches what is not in host memory

    Raises ValueError for what cannot be seen in place or is out of reach, TypeError for an object without protocol.
    """
    numpy = sys.modules.get("numpy")  # without it there is no array
    if numpy is not None and isinstance(obj, numpy.ndarray):
        return _of_array(obj, where), obj
    try:
        if hasattr(obj, "__dlpack__"):
            return _of_dlpack(obj, where, device, stream)
        if hasattr(obj, "__cuda_array_interface__"):
            return _of_cuda_array(obj.__cuda_array_interface__, where, device, stream), obj
        if hasattr(obj, "__array_interface__"):
            return _of_array(_array_of(obj), where), obj
    except (BufferError, RuntimeError, TypeError) as error:
        message = f"{where}: {type(obj).__name__} cannot be seen in place: {error}; make a plain array of it"
        raise ValueError(message) from error
    except (AttributeError, KeyError) as error:
        message = f"{where}: {type(obj).__name__} has half a protocol, which raised {error!r}; give an array of it"
        raise ValueError(message) from error
    import numpy as np  # noqa: PLC0415 - only interchange needs it, and `import ep` must not

    try:
        array = np.asarray(memoryview(obj))
    except TypeError:
        message = f"{where} is {type(obj).__name__}, needs a Memory, a NumPy array, or an object with an array interface, a buffer or DLPack; make an array of it"
        raise TypeError(message) from None
    except (ValueError, NotImplementedError) as error:  # a buffer that was released, or of elements that NumPy lacks
        message = f"{where}: {type(obj).__name__} cannot be seen in place: {error}; give an array of it"
        raise ValueError(message) from error
    return _of_array(array, where), array


def _of_array(array: np.ndarray[Any, Any], where: str) -> dlpack.Tensor:
    """Read an array by its attributes: NumPy's own __dlpack__ refuses bfloat16, float8 and, by old words, read-only."""
    name, itemsize = _name_of(array.dtype), array.itemsize
    if name is None:
        message = f"{where} has element type {array.dtype}, which is not one of EP's: {', '.join(DTYPES)}; convert it with astype"
        raise ValueError(message)
    if hasattr(array, "mask"):
        message = f"{where} has a mask, which tensors of EP have not; fill it, as numpy.ma.filled does"
        raise ValueError(message)
    strides = None
    if not array.flags.c_contiguous:
        for axis, stride in enumerate(array.strides):
            if stride % itemsize:
                message = f"{where} has stride {stride} along axis {axis}, which is not a multiple of the itemsize {itemsize}; copy the array"
                raise ValueError(message)
        strides = tuple(stride // itemsize for stride in array.strides)
    address, is_read_only = array.ctypes.data, not array.flags.writeable
    return dlpack.Tensor((dlpack.CPU, 0), address, 0, name, array.shape, strides, is_read_only=is_read_only)


def _array_of(obj: Any) -> np.ndarray[Any, Any]:
    """Return the array over the address that an object's array interface names. Raises BufferError if it names none."""
    import numpy as np  # noqa: PLC0415 - only interchange needs it, and `import ep` must not

    if type(obj.__array_interface__["data"]) is not tuple:
        message = "its array interface has data without an address, which may be a copy"
        raise BufferError(message)
    try:
        return np.asarray(obj)
    except ValueError as error:
        raise BufferError(str(error)) from error


@functools.lru_cache(maxsize=64)
def _name_of(dtype: np.dtype[Any]) -> str | None:
    """Return EP's name of an element type; NumPy composes its own anew each time."""
    return dtype.name if dtype.name in DTYPES and dtype.isnative else None


def _of_dlpack(obj: Any, where: str, device: Device | None, stream: Stream | None) -> tuple[dlpack.Tensor, dlpack.Loan]:
    try:
        kind, index = obj.__dlpack_device__()
    except ValueError as error:  # a kind of device that DLPack has no number for
        raise BufferError(str(error)) from error
    lies = int(kind), int(index)
    if device is not None:
        require_reach(where, lies, device)
    # Host memory has no streams; who does not touch what lies elsewhere need not wait for it.
    words = None if lies[0] in dlpack.HOST else _NO_WAIT if stream is None else stream._dlpack_stream()
    tensor, loan = dlpack.take(_ask(obj, words))
    if tensor.is_copied:
        message = "its producer made a copy of it"
        raise BufferError(message)
    return tensor, loan


def _ask(obj: Any, stream: Any) -> Any:
    """Call `__dlpack__` with what its producer knows: the arguments of 2023, those of DLPack 1.0, or the first ones."""
    for more in ({"max_version": dlpack.VERSION, "copy": False}, {"max_version": dlpack.VERSION}):
        try:
            return obj.__dlpack__(stream=stream, **more)
        except TypeError:
            continue
    return obj.__dlpack__() if stream is None else obj.__dlpack__(stream=stream)


def _of_cuda_array(
    interface: dict[str, Any], where: str, device: Device | None, stream: Stream | None
) -> dlpack.Tensor:
    index = 0
    if device is not None:
        index = device.index
        require_reach(where, (dlpack.CUDA, index), device)
    tensor, handle = cuda_array.read(interface, index), cuda_array.producer_stream(interface)
    if stream is not None and handle is not None:
        producer = stream.device._wrap_stream(handle)
        try:
            stream.wait(producer.record())
        finally:
            producer._finish()
    return tensor
