"""Tensors as NumPy arrays. NumPy and ml_dtypes are imported when one is asked for, and not before."""

from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING, Any

from ep.errors import OutOfMemoryError
from ep.layout.spec import TensorSpec

if TYPE_CHECKING:
    import numpy as np

    from ep.exchange.dlpack import Tensor

    Array = np.ndarray[Any, Any]

__all__ = ["array_dtype", "array_in", "array_of_loan", "dense_copy", "empty_array"]


@functools.cache
def array_dtype(name: str) -> np.dtype[Any]:
    """Return the NumPy dtype of an element type of EP; those that NumPy lacks come from ml_dtypes."""
    import numpy as np  # noqa: PLC0415 - `import ep` must not

    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes  # noqa: PLC0415 - 60 ms, and few ask for its types

        lacking: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return lacking


def array_in(buffer: Any, spec: TensorSpec) -> Array:
    """Return a tensor as an array in place.

    buffer : bytes, of which the first is that of the tensor's lowest element
    """
    import numpy as np  # noqa: PLC0415 - as above

    size = spec.itemsize
    strides = [stride * size for stride in spec.strides]
    return np.ndarray(spec.shape, array_dtype(spec.dtype), buffer, (spec.offset - spec.lo) * size, strides)


def empty_array(operation: str, spec: TensorSpec) -> Array:
    """Return a dense array with undefined contents. Raises OutOfMemoryError where the host has no room for it."""
    import numpy as np  # noqa: PLC0415 - as above

    try:
        return np.empty(spec.shape, array_dtype(spec.dtype))
    except MemoryError:
        nbytes = spec.size * spec.itemsize
        message = f"{operation}: the host has no room for {nbytes} bytes; take parts of the tensor"
        raise OutOfMemoryError(message, requested=nbytes) from None


def dense_copy(operation: str, array: Array) -> Array:
    """Return a dense copy of an array in host memory. Raises as `empty_array` does."""
    copy = empty_array(operation, TensorSpec(array.dtype.name, array.shape))
    copy[...] = array
    return copy


def array_of_loan(tensor: Tensor, spec: TensorSpec, loan: object) -> Array:
    """Return a producer's tensor in host memory as an array in place, which keeps the loan.

    spec : what the producer says, from the tensor's lowest element on
    """
    address = tensor.data + tensor.begin - spec.offset * spec.itemsize
    lent: Any = (ctypes.c_char * spec.nbytes).from_address(address if spec.size else 0)
    lent.loan = loan
    return array_in(lent, spec)
