"""Tensors as NumPy arrays. NumPy and ml_dtypes are imported when one is asked for, and not before."""

from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from ep.dlpack import Tensor
    from ep.spec import TensorSpec

    Array = np.ndarray[Any, Any]

__all__ = ["array_dtype", "array_in", "array_of_loan"]


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


def array_of_loan(tensor: Tensor, spec: TensorSpec, loan: object) -> Array:
    """Return a producer's tensor in host memory as an array in place, which keeps the loan.

    spec : what the producer says, from the tensor's lowest element on
    """
    address = tensor.data + tensor.begin - spec.offset * spec.itemsize
    lent: Any = (ctypes.c_char * spec.nbytes).from_address(address if spec.size else 0)
    lent.loan = loan
    return array_in(lent, spec)
