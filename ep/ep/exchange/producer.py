"""Reads the tensors of other libraries: arrays, buffers, DLPack, NumPy's and CUDA's array interfaces."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ep.dtypes import DTYPES
from ep.errors import EpError
from ep.exchange import cuda_array, dlpack
from ep.exchange.foreign import require_reach
from ep.ground.glimpse import glimpse, told
from ep.integers import integer
from ep.layout.spec import TensorSpec
from ep.memory.buffers import refuse_mask

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from ep.stream.device import Device
    from ep.stream.stream import Stream

__all__ = ["read", "spec_of"]

_NO_WAIT: Final = -1
_PROTOCOLS: Final = ("__dlpack__", "__cuda_array_interface__", "__array_interface__")
_BITS: Final = {"is_neg": "resolve_neg", "is_conj": "resolve_conj"}

Answer = TypeVar("Answer")


def read(obj: Any, where: str, device: Device | None, stream: Stream | None) -> tuple[dlpack.Tensor, object]:
    """Return the description of an object's tensor, and an object that keeps the tensor alive.

    device  : the device that will use the tensor; None: only its description is needed
    stream  : its later work is ordered after the producer's work; None: only tensors in host memory will be touched

    Raises ValueError for a tensor that cannot be used in place or is out of reach, TypeError without a protocol.
    """
    numpy = sys.modules.get("numpy")  # without it there is no array
    if numpy is not None and issubclass(type(obj), numpy.ndarray):
        return _of_array(obj, where), obj
    protocol = _asked(obj, where, _protocol)
    if protocol == "__dlpack__":
        return _of_dlpack(obj, where, device, stream)
    if protocol == "__cuda_array_interface__":
        return _of_cuda_array(obj, where, device, stream), obj
    array = _asked(obj, where, _array_of) if protocol else _array_over(obj, where)
    return _of_array(array, where), array


def spec_of(tensor: dlpack.Tensor, where: str) -> TensorSpec:
    """Return how a tensor lies in a memory that begins where its lowest element is. Raises ValueError for no such tensor."""
    # The producer's pointer is at index (0, ..., 0).
    below = 0
    if tensor.strides is not None and len(tensor.strides) == len(tensor.shape) and 0 not in tensor.shape:
        below = sum((e - 1) * s for e, s in zip(tensor.shape, tensor.strides, strict=True) if s < 0)
    try:
        return TensorSpec(tensor.dtype, tensor.shape, tensor.strides, -below)
    except ValueError as error:
        message = f"{where}: {error}"
        raise ValueError(message) from None


def _protocol(obj: Any) -> str:
    return next((name for name in _PROTOCOLS if hasattr(obj, name)), "")


def _asked(obj: Any, where: str, question: Callable[..., Answer], *words: Any) -> Answer:
    """Return the answer of an object's own code. Its exceptions become ValueError, except those of EP."""
    try:
        return question(obj, *words)
    except EpError:
        raise
    except (AttributeError, LookupError) as error:
        message = (
            f"{where}: {type(obj).__name__} has half a protocol, which raised {glimpse(error)}; give an array of it"
        )
        raise ValueError(message) from error
    except Exception as error:
        message = f"{where}: {type(obj).__name__} cannot be seen in place: {told(error)}; make a plain array of it"
        raise ValueError(message) from error


def _array_over(obj: Any, where: str) -> np.ndarray[Any, Any]:
    """Return the array over the bytes of a buffer."""
    import numpy as np  # noqa: PLC0415 - only interchange needs it, and `import ep` must not

    try:
        view = memoryview(obj)
        array = np.asarray(view)
    except TypeError:
        message = f"{where} is {type(obj).__name__}, needs a Memory, a NumPy array, or an object with an array interface, a buffer or DLPack; make an array of it"
        raise TypeError(message) from None
    except Exception as error:  # a buffer that was released, or of elements that NumPy lacks
        message = f"{where}: {type(obj).__name__} cannot be seen in place: {told(error)}; give an array of it"
        raise ValueError(message) from error
    refuse_mask(view.obj, where)
    return array


def _of_array(array: np.ndarray[Any, Any], where: str) -> dlpack.Tensor:
    """Read an array by its attributes: NumPy's own __dlpack__ refuses bfloat16, float8 and, by old words, read-only."""
    name, itemsize = _name_of(array.dtype), array.itemsize
    if name is None:
        cure = "convert it with astype"
        if not array.dtype.isnative:
            cure = "give array.astype(array.dtype.newbyteorder('=')), in this machine's byte order"
        message = f"{where} has element type {told(array.dtype)}, which is not one of EP's: {', '.join(DTYPES)}; {cure}"
        raise ValueError(message)
    refuse_mask(array, where)
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

    interface = obj.__array_interface__
    if type(interface["data"]) is not tuple:
        message = "its array interface has data without an address, which may be a copy"
        raise BufferError(message)
    if interface.get("mask") is not None:
        message = "its array interface has a mask, which tensors of EP have not"
        raise BufferError(message)
    return np.asarray(obj)


@functools.lru_cache(maxsize=64)
def _name_of(dtype: np.dtype[Any]) -> str | None:
    """Return EP's name of an element type; NumPy composes its own anew each time."""
    return dtype.name if dtype.name in DTYPES and dtype.isnative else None


def _of_dlpack(obj: Any, where: str, device: Device | None, stream: Stream | None) -> tuple[dlpack.Tensor, dlpack.Loan]:
    if cure := _asked(obj, where, _unresolved):
        message = (
            f"{where}: {type(obj).__name__} has values that are not those of its bytes; give what its {cure}() returns"
        )
        raise ValueError(message)
    lies = _asked(obj, where, _lies)
    if device is not None:
        require_reach(where, lies, device)
    # Host memory has no streams; a caller that does not touch device memory need not wait for it.
    words = None if lies[0] in dlpack.HOST else _NO_WAIT if stream is None else stream.twin.dlpack_stream()
    return _asked(obj, where, _taken, words)


def _unresolved(obj: Any) -> str:
    """Return the method that applies a tensor's lazy conjugation or negation to its bytes, "" if it has none.

    DLPack has no word for the negative and the conjugate bit of PyTorch.
    """
    for asks, cure in _BITS.items():
        is_set = getattr(type(obj), asks, None)
        if is_set is not None and is_set(obj) is True:
            return cure
    return ""


def _lies(obj: Any) -> tuple[int, int]:
    kind, index = obj.__dlpack_device__()
    return integer("its DLPack device type", kind), integer("its DLPack device index", index)


def _taken(obj: Any, words: Any) -> tuple[dlpack.Tensor, dlpack.Loan]:
    tensor, loan = dlpack.take(_ask(obj, words))
    if tensor.is_copied:
        loan.end()
        message = "its producer made a copy of it"
        raise BufferError(message)
    return tensor, loan


def _ask(obj: Any, stream: Any) -> Any:
    """Call `__dlpack__` with the newest arguments that the producer knows: those of 2023, of DLPack 1.0, or none."""
    for more in ({"max_version": dlpack.VERSION, "copy": False}, {"max_version": dlpack.VERSION}):
        try:
            return obj.__dlpack__(stream=stream, **more)
        except TypeError:
            continue
    return obj.__dlpack__() if stream is None else obj.__dlpack__(stream=stream)


def _of_cuda_array(obj: Any, where: str, device: Device | None, stream: Stream | None) -> dlpack.Tensor:
    index = 0
    if device is not None:
        index = device.index
        require_reach(where, (dlpack.CUDA, index), device)
    tensor, handle = _asked(obj, where, cuda_array.read, index)
    if stream is not None and handle is not None:
        producer = stream.device._borrow(handle)
        try:
            stream.wait(producer.record())
        finally:
            producer._finish()
    return tensor
