"""cuBLASLt through cffi.

Facts are from NVIDIA's cuBLAS reference, release 13.0.
"""

from __future__ import annotations

import ctypes.util
import functools
from typing import TYPE_CHECKING, Any, Final

import ep
from ep_cuda.library import declared, in_wheels, opened

if TYPE_CHECKING:
    from ep_cuda.driver import Context

__all__ = ["CURE", "CublasLt", "cublaslt", "ffi", "located"]

FUNCTIONS: Final = """
typedef int cublasStatus_t;
typedef void *cublasLtHandle_t, *cublasLtMatmulDesc_t, *cublasLtMatrixLayout_t, *cublasLtMatmulPreference_t;
typedef struct { uint64_t data[8]; } cublasLtMatmulAlgo_t;
typedef struct { cublasLtMatmulAlgo_t algo; size_t nbytes; int state; float waves; int reserved[4]; } cublasLtMatmulHeuristicResult_t;

size_t cublasLtGetVersion(void);
const char *cublasLtGetStatusName(cublasStatus_t);
cublasStatus_t cublasLtCreate(cublasLtHandle_t *);
cublasStatus_t cublasLtDestroy(cublasLtHandle_t);
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *, int, int);
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t);
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t, int, const void *, size_t);
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *, int, uint64_t, uint64_t, int64_t);
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t);
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t, int, const void *, size_t);
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *);
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t);
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t, int, const void *, size_t);
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t *, int *);
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *, cublasLtMatrixLayout_t, const void *, cublasLtMatrixLayout_t, const void *, const void *, cublasLtMatrixLayout_t, void *, cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *, void *, size_t, void *);
"""

_TYPES: Final = (
    *(f"cublasLt{what} *" for what in ("Handle_t", "MatmulDesc_t", "MatrixLayout_t", "MatmulPreference_t")),
    *("cublasLtMatmulHeuristicResult_t *", "int *", "int32_t *", "int64_t *", "uint32_t *", "uint64_t *", "void *"),
    *("int32_t", "int64_t", "uint32_t", "uint64_t"),
    *("char[]", "char[16]"),
)

ffi: Final = declared(FUNCTIONS, _TYPES)

CURE: Final = "pip install 'execution-provider[cuda-matmul]' brings it"

_SYSTEM: Final = "cublasLt"


class CublasLt:
    """The opened library, with a handle for one device."""

    def __init__(self, context: Context) -> None:
        """Make the handle. Raises UnavailableError if the library cannot be opened, DeviceError."""
        self.functions = cublaslt()
        self._context = context
        self.handle = self.made("cublasLtCreate", "cublasLtHandle_t")

    def made(self, name: str, kind: str, *arguments: Any) -> Any:
        """Return the object that a function makes. Raises DeviceError."""
        place = ffi.new(f"{kind} *")
        with self._context:
            self.check(name, getattr(self.functions, name)(place, *arguments))
        return place[0]

    def owned(self, name: str, kind: str, *arguments: Any) -> Any:
        """Return an object that is destroyed when nothing refers to it. Raises DeviceError."""
        destroy = getattr(self.functions, name.replace("Create", "Destroy"))
        return ffi.gc(self.made(name, kind, *arguments), destroy)

    def set(self, name: str, what: Any, attribute: int, kind: str, value: int) -> None:
        """Set an attribute of an object by a function, as a number of a C type. Raises DeviceError."""
        place = ffi.new(f"{kind} *", value)
        self.check(name, getattr(self.functions, name)(what, attribute, place, ffi.sizeof(kind)))

    def check(self, name: str, status: int) -> None:
        """Raise DeviceError unless a function succeeded."""
        if status:
            code = ffi.string(self.functions.cublasLtGetStatusName(status)).decode()
            message = "a call of cuBLASLt failed"
            raise ep.DeviceError(message, provider="cuda", call=name, code=f"{code} ({status})")

    def close(self) -> None:
        """Destroy the handle; it raises nothing."""
        with self._context:
            self.functions.cublasLtDestroy(self.handle)


def located() -> str | None:
    """Return where the library is, the wheel's first; None if it is not installed."""
    wheels = in_wheels("libcublasLt.so.*")
    return wheels[0] if wheels else ctypes.util.find_library(_SYSTEM)


@functools.cache
def cublaslt() -> Any:
    """Return the library's functions, opened once. Raises UnavailableError."""
    path = located()
    try:
        if path is not None:
            return opened(ffi, FUNCTIONS, path)
        why = "it is not installed"
    except (OSError, AttributeError) as error:
        why = str(error)
    message = f"cuBLASLt cannot be opened ({why}); {CURE}"
    raise ep.UnavailableError(message)
