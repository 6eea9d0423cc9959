"""The calls that NCCL, RCCL and oneCCL share, by cffi: their names, types and numbers; symbols are looked up when they are called."""

from __future__ import annotations

import functools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from cffi import FFI
from ep.errors import DeviceError, UnavailableError, UnsupportedError

from ep_collectives.carrier.failure import named

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DTYPES", "FLAVOURS", "OPS", "Library", "library"]

_DECLARATIONS: Final = """
typedef struct {{ char internal[{id}]; }} {p}UniqueId;
int {p}GetUniqueId({p}UniqueId *id);
int {p}CommInitRank(void **comm, int ranks, {p}UniqueId id, int rank);
int {p}CommDestroy(void *comm);
int {p}CommAbort(void *comm);
int {p}CommGetAsyncError(void *comm, int *error);
int {p}CommSplit(void *comm, int color, int key, void **made, void *config);
int {p}CommShrink(void *comm, int *excluded, int count, void **made, void *config, int flags);
const char *{p}GetErrorString(int result);
int {p}GroupStart(void);
int {p}GroupEnd(void);
int {p}AllReduce(const void *x, void *out, size_t count, int type, int op, void *comm, void *stream);
int {p}Reduce(const void *x, void *out, size_t count, int type, int op, int root, void *comm, void *stream);
int {p}ReduceScatter(const void *x, void *out, size_t count, int type, int op, void *comm, void *stream);
int {p}AllGather(const void *x, void *out, size_t count, int type, void *comm, void *stream);
int {p}Broadcast(const void *x, void *out, size_t count, int type, int root, void *comm, void *stream);
int {p}Send(const void *x, size_t count, int type, int peer, void *comm, void *stream);
int {p}Recv(void *out, size_t count, int type, int peer, void *comm, void *stream);
"""
"""As in NCCL's nccl.h, RCCL's rccl.h and oneCCL's oneapi/ccl.h; enumerations are ints, handles and streams pointers."""

DTYPES: Final = {
    "int8": 0,
    "uint8": 1,
    "int32": 2,
    "uint32": 3,
    "int64": 4,
    "uint64": 5,
    "float16": 6,
    "float32": 7,
    "float64": 8,
    "bfloat16": 9,
}
OPS: Final = {"sum": 0, "prod": 1, "max": 2, "min": 3, "mean": 4}

_IN_PROGRESS: Final = 7


class _Flavour(NamedTuple):
    """One of the libraries.

    prefix   : of its functions
    file     : as the dynamic linker finds it
    id_bytes : of a unique id
    """

    prefix: str
    file: str
    id_bytes: int


FLAVOURS: Final = {
    "nccl": _Flavour("nccl", "libnccl.so.2", 128),
    "rccl": _Flavour("nccl", "librccl.so.1", 128),
    "oneccl": _Flavour("oneccl", "libccl.so.2", 4096),
}


class Library:
    """A library of this shape, opened.

    Raises UnavailableError if it cannot be.
    """

    def __init__(self, flavour: str, path: str) -> None:
        self.flavour = flavour
        self._prefix, file, self._id_bytes = FLAVOURS[flavour]
        self._file = path or file
        self.ffi = FFI()
        self.ffi.cdef(_DECLARATIONS.format(p=self._prefix, id=self._id_bytes))
        try:
            self._lib: Any = self.ffi.dlopen(self._file)
        except OSError as error:
            message = f"{flavour}: {self._file} cannot be loaded ({error}); install it, or give its path"
            raise UnavailableError(message) from error

    def has(self, name: str) -> bool:
        """Say whether the library has a function, without its prefix."""
        return hasattr(self._lib, self._prefix + name)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function, without its prefix. Raises DeviceError for its errors, UnsupportedError where the library lacks it."""
        try:
            function = getattr(self._lib, self._prefix + name)
        except AttributeError:
            message = f"{self._file} has no {self._prefix}{name}; take a newer one"
            raise UnsupportedError(message) from None
        status = function(*arguments)
        if status not in {0, _IN_PROGRESS}:
            raise DeviceError(self.said(status), provider=self.flavour, call=self._prefix + name, code=status)

    @contextmanager
    def group(self) -> Iterator[None]:
        """Run as one what a `with` block calls, when it ends. Raises DeviceError."""
        self.call("GroupStart")
        try:
            yield
        finally:
            self.call("GroupEnd")

    def said(self, status: int) -> str:
        """Return what the library says of a result."""
        text: bytes = self.ffi.string(getattr(self._lib, f"{self._prefix}GetErrorString")(status))
        return text.decode(errors="replace")

    def unique_id(self) -> bytes:
        """Return a new id for a communicator."""
        made = self.ffi.new(f"{self._prefix}UniqueId *")
        self.call("GetUniqueId", made)
        return bytes(self.ffi.buffer(made))

    def joined(self, unique_id: bytes, rank: int, size: int) -> Any:
        """Return the handle of a rank; waits for all others."""
        given, made = self.ffi.new(f"{self._prefix}UniqueId *"), self.ffi.new("void **")
        if len(unique_id) != self._id_bytes:
            message = f"nccl_group: unique_id has {len(unique_id)} bytes, needs {self._id_bytes} of {self.flavour} for {named([rank])}; nccl_unique_id makes one"
            raise ValueError(message)
        self.ffi.buffer(given)[:] = unique_id
        self.call("CommInitRank", made, size, given[0], rank)
        return made[0]

    def async_error(self, native: Any) -> int:
        """Return what has gone wrong with a communicator since, 0 for nothing."""
        found = self.ffi.new("int *")
        self.call("CommGetAsyncError", native, found)
        return 0 if found[0] == _IN_PROGRESS else int(found[0])


@functools.cache
def library(flavour: str, path: str) -> Library:
    """Return a library, opened once. Raises ValueError for an unknown one, UnavailableError if it is not there."""
    if flavour not in FLAVOURS:
        message = f"nccl: library is {flavour!r}, needs one of {', '.join(FLAVOURS)}"
        raise ValueError(message)
    return Library(flavour, path)
