"""Tensors of other libraries, as EP meets them: lenders of host memory that count, and a second hand for exports."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    import ep
    from ep_conformance.trial import Bytes

__all__ = ["Elsewhere", "Lender", "SecondHand", "as_laid_out"]

_deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)

# Name of the capsule and place of the deleter in it (dlpack.h), by generation.
_GENERATIONS: Final = {True: (b"dltensor_versioned", 16), False: (b"dltensor", 56)}

_THUNKS: Final[list[Any]] = []  # a deleter must be there whenever the borrower calls it


class Lender:
    """Lends an array by DLPack as a library of its generation does, and counts.

    asked      : the arguments of each `__dlpack__` that was answered
    deletions  : how often a deleter was called
    """

    def __init__(self, array: npt.NDArray[Any], *, versioned: bool = True) -> None:
        self.array = array
        self.versioned = versioned
        self.asked: list[dict[str, Any]] = []
        self.deletions = 0

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **words: Any) -> Any:
        if not self.versioned and words.keys() - {"stream"}:
            message = f"unknown are {', '.join(words)}"
            raise TypeError(message)
        self.asked.append(words)
        capsule = self.array.__dlpack__(max_version=(1, 0)) if self.versioned else self.array.__dlpack__()
        name, place = _GENERATIONS[self.versioned]
        field = ctypes.c_void_p.from_address(_pointer(capsule, name) + place)
        original = _deleter(field.value or 0)

        def count(address: int) -> None:
            self.deletions += 1
            original(address)

        thunk = _deleter(count)
        _THUNKS.append(thunk)
        field.value = ctypes.cast(thunk, ctypes.c_void_p).value
        return capsule


class SecondHand:
    """Hands on what another object exports, so that EP sees a capsule only; `versioned` False: of the old generation."""

    def __init__(self, exported: Any, *, versioned: bool = True) -> None:
        self.exported = exported
        self.versioned = versioned

    def __dlpack_device__(self) -> Any:
        return self.exported.__dlpack_device__()

    def __dlpack__(self, **words: Any) -> Any:
        if not self.versioned and words.keys() - {"stream"}:
            message = f"unknown are {', '.join(words)}"
            raise TypeError(message)
        return self.exported.__dlpack__(**words)


class Elsewhere:
    """Says that it lies on a device of no EP provider's type; it never gives a capsule."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return (17, 0)  # kDLMAIA

    def __dlpack__(self, **words: Any) -> Any:
        message = f"asked for a capsule ({words}) that nobody here can use"
        raise AssertionError(message)


def as_laid_out(content: Bytes, spec: ep.TensorSpec) -> npt.NDArray[Any]:
    """Return the tensor that a spec describes in the bytes of a memory."""
    strides = tuple(spec.itemsize * stride for stride in spec.strides)
    elements = content.view(spec.dtype)[spec.offset :]
    return np.lib.stride_tricks.as_strided(elements, spec.shape, strides, writeable=False)
