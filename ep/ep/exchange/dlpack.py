"""The DLPack protocol: the structures of dlpack.h 1.1 by ctypes, and capsules of both generations, read and made.

A tensor that DLPack or EP cannot express raises BufferError.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final, NamedTuple

from ep.dtypes import DTYPES
from ep.ground.uncopied import Uncopied
from ep.layout.spec import MAX_RANK

__all__ = ["CUDA", "HOST", "ROCM", "VERSION", "Loan", "Tensor", "make", "take"]

VERSION: Final = (1, 1)
"""The newest version that is spoken here."""

CPU: Final = 1
CUDA: Final = 2
ROCM: Final = 10

HOST: Final = frozenset({CPU, 3, ROCM + 1})
"""Device types of host memory: kDLCPU and the pinned memory of CUDA and ROCm."""

_END: Final = 2**63  # of addresses and offsets

_READ_ONLY: Final = 1
_IS_COPIED: Final = 2

_KINDS: Final = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_SPECIAL: Final = {"bfloat16": 4, "float8_e4m3fn": 10, "float8_e5m2": 12}
# A consumer that does not know the code of a later minor version refuses it by itself; PyTorch asks for 1.0 and knows it.
_CODES: Final = {row.name: (_SPECIAL.get(row.name, _KINDS[row.kind]), 8 * row.itemsize) for row in DTYPES.values()}
_NAMES: Final = {code: name for name, code in _CODES.items()}


class Tensor(NamedTuple):
    """A producer's description of its tensor.

    device   : DLPack's (device type, device index)
    data     : address; on devices whose memory has none, such as OpenCL's, the number of a driver object
    begin    : bytes from there to index (0, ..., 0)
    strides  : in elements; None: row-major
    """

    device: tuple[int, int]
    data: int
    begin: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    is_read_only: bool = False
    is_copied: bool = False


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    """DLManagedTensor, of all versions before 1.0."""

    name = b"dltensor"
    used = b"used_dltensor"
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _ManagedVersioned(ctypes.Structure):
    """DLManagedTensorVersioned, of 1.0 and later; other major versions share the fields before `tensor`."""

    name = b"dltensor_versioned"
    used = b"used_dltensor_versioned"
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_GENERATIONS: Final[tuple[type[_Managed | _ManagedVersioned], ...]] = (_ManagedVersioned, _Managed)

# Prototypes of our own: an attribute of ctypes.pythonapi is everybody's.
_OBJECT, _NAME = ctypes.py_object, ctypes.c_char_p
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, _OBJECT, _NAME)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, _OBJECT, _NAME)(("PyCapsule_GetPointer", ctypes.pythonapi))
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, _OBJECT, _NAME)(("PyCapsule_SetName", ctypes.pythonapi))
_keep_for_ever = ctypes.PYFUNCTYPE(None, _OBJECT)(("Py_IncRef", ctypes.pythonapi))
_deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

for _generation in _GENERATIONS:
    _keep_for_ever(_generation.used)  # a capsule points to its name and may outlive every module


class Loan(Uncopied):
    """A producer's tensor, taken out of its capsule; its end calls the deleter, once, from whichever thread."""

    __slots__ = ("_address", "_delete")

    def __init__(self, address: int, deleter: int | None) -> None:
        self._address = address
        self._delete = _deleter(deleter) if deleter else None

    def end(self) -> None:
        """Call the deleter, unless that was done. The tensor may not be touched any more."""
        delete, self._delete = self._delete, None
        if delete is not None:
            delete(self._address)

    def __del__(self) -> None:
        if getattr(self, "_delete", None) is not None:
            self.end()


def take(capsule: Any) -> tuple[Tensor, Loan]:
    """Take a tensor out of its capsule, which is marked as used. The tensor may be touched as long as the loan lives.

    A capsule of the old generation does not say whether it may be written, so it is read-only.

    Every field is checked before it is used, with one exception: a pointer that is not null is taken to point to what
    dlpack.h says, because C has no way to check that.

    Raises BufferError, having called the deleter, for a major version other than 1, an element type that EP lacks, a
    rank or an offset that no tensor has, and a null pointer to a shape or to elements.
    """
    for generation in _GENERATIONS:
        if _is_valid(capsule, generation.name):
            break
    else:
        what = next((g.used for g in _GENERATIONS if _is_valid(capsule, g.used)), None)
        message = "its capsule was used already" if what else f"{type(capsule).__name__} is not a DLPack capsule"
        raise BufferError(message)
    address = _pointer(capsule, generation.name)
    managed = generation.from_address(address)
    _rename(capsule, generation.used)  # first: an unused capsule calls the deleter, too
    loan = Loan(address, managed.deleter)
    try:
        return _describe(managed), loan
    except BufferError:
        loan.end()  # now, and not with the traceback
        raise


def _describe(managed: _Managed | _ManagedVersioned) -> Tensor:
    if isinstance(managed, _Managed):
        return _read(managed.tensor, _READ_ONLY)
    if managed.major != VERSION[0]:
        message = f"it speaks DLPack {managed.major}.{managed.minor}, needs version 0 or {VERSION[0]}"
        raise BufferError(message)
    return _read(managed.tensor, managed.flags)


def _read(tensor: _Tensor, flags: int) -> Tensor:
    dtype = _NAMES.get((tensor.code, tensor.bits))
    if dtype is None or tensor.lanes != 1:
        message = f"its element type (code {tensor.code}, {tensor.bits} bits, {tensor.lanes} lanes) is none of EP's"
        raise BufferError(message)
    rank = tensor.ndim
    if not 0 <= rank <= MAX_RANK:
        message = f"its rank is {rank}; ranks are 0 to {MAX_RANK}"
        raise BufferError(message)
    if rank and not tensor.shape:
        message = f"its rank is {rank} and its shape is a null pointer"
        raise BufferError(message)
    shape = tuple(tensor.shape[:rank]) if rank else ()
    if tensor.byte_offset >= _END:
        message = f"its byte_offset is {tensor.byte_offset}, which is beyond all addresses"
        raise BufferError(message)
    if not tensor.data and 0 not in shape:
        message = f"its shape is {shape} and its data is a null pointer"
        raise BufferError(message)
    return Tensor(
        (tensor.device_type, tensor.device_id),
        tensor.data or 0,
        tensor.byte_offset,
        dtype,
        shape,
        tuple(tensor.strides[:rank]) if rank and tensor.strides else None,
        bool(flags & _READ_ONLY),
        bool(flags & _IS_COPIED),
    )


def make(tensor: Tensor, keep: object, *, versioned: bool) -> Any:
    """Return a fresh capsule for one consumer; `keep` is kept until its deleter, or the end of the unused capsule.

    The structure is one of NumPy's, filled anew. Its deleter is a C function that takes the GIL from any thread, does
    nothing once the interpreter is gone, and leaves an exception under way alone. A callback of ctypes can do
    neither of the last two: run while a consumer fails, it would lose the consumer's error.
    """
    import numpy as np  # noqa: PLC0415 - only who exports needs it, and `import ep` must not

    rank = len(tensor.shape)
    strides = tensor.strides
    assert strides is not None  # NULL was legal before version 1.2 alone
    carrier: Any = (ctypes.c_ubyte * 1)()
    extents, steps = (ctypes.c_int64 * rank)(*tensor.shape), (ctypes.c_int64 * rank)(*strides)
    carrier.keep = (keep, extents, steps)
    generation = _ManagedVersioned if versioned else _Managed
    array = np.frombuffer(carrier, np.uint8)
    capsule = array.__dlpack__(max_version=VERSION) if versioned else array.__dlpack__()
    managed = generation.from_address(_pointer(capsule, generation.name))
    if isinstance(managed, _ManagedVersioned):
        managed.major, managed.minor = VERSION
        managed.flags = _READ_ONLY * tensor.is_read_only
    code, bits = _CODES[tensor.dtype]
    managed.tensor = _Tensor(tensor.data or None, *tensor.device, rank, code, bits, 1, extents, steps, tensor.begin)
    return capsule
