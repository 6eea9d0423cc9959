"""ONNX's element types, and the ones of EP that hold their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

from ep_onnx.errors import LackingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Array = NDArray[Any]

__all__ = ["HELD", "dtype_of", "element_name", "held", "narrow", "narrow_of", "narrowed"]

HELD: Final[Mapping[int, str]] = {
    TensorProto.FLOAT: "float32",
    TensorProto.UINT8: "uint8",
    TensorProto.INT8: "int8",
    TensorProto.UINT16: "uint16",
    TensorProto.INT16: "int16",
    TensorProto.INT32: "int32",
    TensorProto.INT64: "int64",
    TensorProto.BOOL: "bool",
    TensorProto.FLOAT16: "float16",
    TensorProto.DOUBLE: "float64",
    TensorProto.UINT32: "uint32",
    TensorProto.UINT64: "uint64",
    TensorProto.COMPLEX64: "complex64",
    TensorProto.COMPLEX128: "complex128",
    TensorProto.BFLOAT16: "bfloat16",
    TensorProto.FLOAT8E4M3FN: "float8_e4m3fn",
    TensorProto.FLOAT8E5M2: "float8_e5m2",
    TensorProto.UINT4: "uint8",
    TensorProto.INT4: "int8",
    TensorProto.UINT2: "uint8",
    TensorProto.INT2: "int8",
    TensorProto.FLOAT4E2M1: "float8_e4m3fn",
}
"""The element type of EP that holds all values of one of ONNX; types narrower than a byte have one each."""

_NARROW: Final[Mapping[int, Any]] = {
    TensorProto.UINT4: ml_dtypes.uint4,
    TensorProto.INT4: ml_dtypes.int4,
    TensorProto.UINT2: ml_dtypes.uint2,
    TensorProto.INT2: ml_dtypes.int2,
    TensorProto.FLOAT4E2M1: ml_dtypes.float4_e2m1fn,
}
_NARROW_NAMES: Final = {np.dtype(each): element for element, each in _NARROW.items()}


def element_name(element: int) -> str:
    """Return ONNX's name of an element type: FLOAT, INT4, ..."""
    try:
        return str(TensorProto.DataType.Name(element))
    except ValueError:
        return f"element type {element}"


def dtype_of(element: int, where: str) -> str:
    """Return the element type of EP that holds one of ONNX. Raises LackingError for those that none does."""
    try:
        return HELD[element]
    except KeyError:
        message = f"{where}: element type {element_name(element)} is held by none of EP's; give another type"
        raise LackingError(message) from None


def narrow(element: int) -> int | None:
    """Return ONNX's element type if the one of EP that holds it is wider, else None."""
    return element if element in _NARROW else None


def narrow_of(array: Array) -> int | None:
    """Return ONNX's element type of an array if it is narrower than a byte, else None."""
    return _NARROW_NAMES.get(array.dtype)


def held(array: Array, where: str) -> Array:
    """Return an array of ONNX's values in the element type that holds them: itself, unless it is narrower than a byte."""
    element = narrow_of(array)
    if element is not None:
        return array.astype(_numpy(HELD[element]))
    if array.dtype.kind in "OSU" or array.dtype.name not in HELD.values():
        message = f"{where}: element type {array.dtype} is held by none of EP's; give another type"
        raise LackingError(message)
    return array


def narrowed(array: Array, element: int) -> Array:
    """Return an array as ONNX's element type has it: the opposite of `held`."""
    return array.astype(_NARROW.get(element) or helper.tensor_dtype_to_np_dtype(element), copy=False)


def _numpy(dtype: str) -> Any:
    return np.dtype(getattr(ml_dtypes, dtype, dtype))
