"""Capsules written byte by byte from dlpack.h, not by the code that they test, with deleters that count."""

from __future__ import annotations

import ctypes
import struct

_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))

VERSIONED, OLD = b"dltensor_versioned", b"dltensor"
DELETER = {VERSIONED: 16, OLD: 56}
TENSOR = {VERSIONED: 32, OLD: 0}

# data, device type and id, ndim, code, bits, lanes, shape, strides, byte_offset; the header before or after it
_TENSOR = "=QiiiBBHQQQ"
_KEPT = []


def capsule(
    generation,
    data,
    shape,
    strides,
    *,
    code=2,
    bits=32,
    lanes=1,
    offset=0,
    device=(1, 0),
    version=(1, 0),
    flags=0,
    deletions=None,
    rank=None,
    name=None,
):
    """Return a capsule; `deletions` gets the address that each call of its deleter was given, None: NULL deleter.

    shape     : None: a null pointer
    rank, name: as the header has them, if None
    """
    extents = (ctypes.c_int64 * len(shape))(*shape) if shape is not None else None
    rank = len(shape or ()) if rank is None else rank
    steps = (ctypes.c_int64 * len(shape))(*strides) if strides is not None else None
    pointers = [ctypes.addressof(numbers) if numbers is not None else 0 for numbers in (extents, steps)]
    tensor = struct.pack(_TENSOR, data, *device, rank, code, bits, lanes, *pointers, offset)
    thunk = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deletions.append) if deletions is not None else None
    delete = ctypes.cast(thunk, ctypes.c_void_p).value if thunk else 0
    if generation == VERSIONED:
        text = struct.pack("=IIQQQ", *version, 0, delete, flags) + tensor
    else:
        text = tensor + struct.pack("=QQ", 0, delete)
    managed = ctypes.create_string_buffer(text, len(text))
    name = generation if name is None else name
    _KEPT.append((managed, extents, steps, thunk, name))  # a capsule points to its name, too
    return _new(ctypes.addressof(managed), name, None)


def name(made):
    return _name(made)


def address(made):
    return _pointer(made, _name(made))


def field(made, place, kind=ctypes.c_uint64):
    return kind.from_address(address(made) + place)


class Producer:
    """An object with the DLPack methods: of the old generation its `__dlpack__` knows no argument but `stream`."""

    def __init__(self, make, *, device=(1, 0), versioned=True):
        self.make = make
        self.device = device
        self.versioned = versioned
        self.asked = []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **words):
        if not self.versioned and words.keys() - {"stream"}:
            raise TypeError("unknown argument")
        self.asked.append(words)
        return self.make()


def rename_for_ever(made, generation):
    """Mark a capsule as used, by a name that outlives it."""
    used = b"used_" + generation
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(used))
    ctypes.pythonapi.PyCapsule_SetName(ctypes.py_object(made), ctypes.c_char_p(used))
