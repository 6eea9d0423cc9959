"""From logical arrays to raw bytes and back, by a TensorSpec: the bytes of a memory, and their values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ep_primitives.judging.reference import Array, array_dtype

if TYPE_CHECKING:
    from ep import TensorSpec

__all__ = ["Buffer", "gather", "scatter", "settled", "view"]

Buffer = npt.NDArray[np.uint8] | bytearray | memoryview


def view(spec: TensorSpec, buffer: Buffer | bytes, shift: int = 0) -> Array:
    """Return the tensor in a byte buffer as a strided NumPy array that shares its bytes; writable if they are.

    buffer : at least shift + spec.nbytes bytes, contiguous
    shift  : bytes before the memory that the spec's offset counts from

    Raises ValueError if the buffer is too short.
    """
    raw = np.frombuffer(buffer, np.uint8)
    if raw.size < shift + spec.nbytes:
        message = f"view: buffer has {raw.size} bytes, {spec!r} needs {shift + spec.nbytes}; give it at least those"
        raise ValueError(message)
    dtype = array_dtype(spec.dtype)
    if not spec.size:
        return np.empty(spec.shape, dtype)
    strides = tuple(stride * spec.itemsize for stride in spec.strides)
    return np.ndarray(spec.shape, dtype, raw.data, shift + spec.offset * spec.itemsize, strides)


def scatter(spec: TensorSpec, array: Array, buffer: Buffer, shift: int = 0) -> None:
    """Write a logical array into a byte buffer where the spec places it; the bytes between elements stay.

    array : shape and element type of the spec, every byte of a bool kept as it is
    """
    target = view(spec, buffer, shift)
    if array.dtype != target.dtype or array.shape != target.shape:
        message = f"scatter: array is {array.dtype} {array.shape}, needs {target.dtype} {target.shape}"
        raise ValueError(message)
    if target.dtype == np.bool_:
        target, array = target.view(np.uint8), array.view(np.uint8)
    target[...] = array


def gather(spec: TensorSpec, buffer: Buffer | bytes, shift: int = 0) -> Array:
    """Return a dense copy of the tensor that a byte buffer holds where the spec places it."""
    source = view(spec, buffer, shift)
    if source.dtype == np.bool_:
        return source.view(np.uint8).copy().view(np.bool_)
    return source.copy()


def settled(spec: TensorSpec, array: Array) -> Array:
    """Return the array as it reads after being written where several indices may share one element."""
    if not spec.overlaps_itself:
        return array
    buffer = np.zeros(spec.nbytes, np.uint8)
    scatter(spec, array, buffer)
    return gather(spec, buffer)
