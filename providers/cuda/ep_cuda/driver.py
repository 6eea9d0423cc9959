"""The driver's interface: the C functions that EP calls, through cffi, which lets other threads run meanwhile.

Facts are from NVIDIA's CUDA Driver API reference, release 13.0. Names that end in _v2 are what cuda.h calls without it.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final

import ep
from ep_cuda.errors import failure
from ep_cuda.library import declared, opened

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

__all__ = ["Context", "Driver", "driver", "ffi"]

_FUNCTIONS: Final = """
typedef int CUresult, CUdevice;
typedef uintptr_t CUdeviceptr;
typedef void *CUcontext, *CUstream, *CUevent, *CUmodule, *CUfunction, *CUlibrary, *CUkernel;
typedef void *CUgraph, *CUgraphNode, *CUgraphExec;
typedef struct {
  CUfunction function;
  unsigned int grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_nbytes;
  void **parameters, **extra;
  void *kernel;
  CUcontext context;
} CUDA_KERNEL_NODE_PARAMS;

CUresult cuInit(unsigned int);
CUresult cuDriverGetVersion(int *);
CUresult cuGetErrorName(CUresult, const char **);

CUresult cuDeviceGetCount(int *);
CUresult cuDeviceGet(CUdevice *, int);
CUresult cuDeviceGetName(char *, int, CUdevice);
CUresult cuDeviceTotalMem_v2(size_t *, CUdevice);
CUresult cuDeviceGetAttribute(int *, int, CUdevice);
CUresult cuDeviceGetPCIBusId(char *, int, CUdevice);
CUresult cuDevicePrimaryCtxRetain(CUcontext *, CUdevice);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice);
CUresult cuDeviceCanAccessPeer(int *, CUdevice, CUdevice);
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned int);
CUresult cuCtxPushCurrent_v2(CUcontext);
CUresult cuCtxPopCurrent_v2(CUcontext *);
CUresult cuCtxGetStreamPriorityRange(int *, int *);

CUresult cuMemGetInfo_v2(size_t *, size_t *);
CUresult cuMemAlloc_v2(CUdeviceptr *, size_t);
CUresult cuMemFree_v2(CUdeviceptr);
CUresult cuMemHostAlloc(void **, size_t, unsigned int);
CUresult cuMemFreeHost(void *);
CUresult cuMemAllocManaged(CUdeviceptr *, size_t, unsigned int);
CUresult cuPointerGetAttribute(void *, int, CUdeviceptr);
CUresult cuMemcpyAsync(CUdeviceptr, CUdeviceptr, size_t, CUstream);
CUresult cuMemcpyPeerAsync(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr, const void *, size_t, CUstream);
CUresult cuMemcpyDtoHAsync_v2(void *, CUdeviceptr, size_t, CUstream);
CUresult cuMemsetD8Async(CUdeviceptr, unsigned char, size_t, CUstream);
CUresult cuMemsetD16Async(CUdeviceptr, unsigned short, size_t, CUstream);
CUresult cuMemsetD32Async(CUdeviceptr, unsigned int, size_t, CUstream);
CUresult cuMemsetD2D32Async(CUdeviceptr, size_t, unsigned int, size_t, size_t, CUstream);

CUresult cuStreamCreateWithPriority(CUstream *, unsigned int, int);
CUresult cuStreamDestroy_v2(CUstream);
CUresult cuStreamSynchronize(CUstream);
CUresult cuStreamQuery(CUstream);
CUresult cuStreamGetCtx(CUstream, CUcontext *);
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned int);
CUresult cuStreamWaitValue32_v2(CUstream, CUdeviceptr, uint32_t, unsigned int);
CUresult cuStreamWriteValue32_v2(CUstream, CUdeviceptr, uint32_t, unsigned int);

CUresult cuEventCreate(CUevent *, unsigned int);
CUresult cuEventDestroy_v2(CUevent);
CUresult cuEventRecord(CUevent, CUstream);
CUresult cuEventQuery(CUevent);
CUresult cuEventSynchronize(CUevent);
CUresult cuEventElapsedTime(float *, CUevent, CUevent);

CUresult cuLibraryLoadData(CUlibrary *, const void *, int *, void **, unsigned int, int *, void **, unsigned int);
CUresult cuLibraryUnload(CUlibrary);
CUresult cuLibraryGetModule(CUmodule *, CUlibrary);
CUresult cuLibraryGetKernel(CUkernel *, CUlibrary, const char *);
CUresult cuKernelGetFunction(CUfunction *, CUkernel);
CUresult cuFuncGetAttribute(int *, int, CUfunction);
CUresult cuLaunchKernel(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,
                        unsigned int, CUstream, void **, void **);

CUresult cuThreadExchangeStreamCaptureMode(int *);
CUresult cuStreamIsCapturing(CUstream, int *);
CUresult cuStreamBeginCapture_v2(CUstream, int);
CUresult cuStreamEndCapture(CUstream, CUgraph *);
CUresult cuGraphCreate(CUgraph *, unsigned int);
CUresult cuGraphDestroy(CUgraph);
CUresult cuGraphAddKernelNode_v2(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS *);
CUresult cuGraphAddChildGraphNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraph);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *, CUgraph, unsigned long long);
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *);
CUresult cuGraphExecDestroy(CUgraphExec);
CUresult cuGraphLaunch(CUgraphExec, CUstream);
"""

_TYPES: Final = (
    *(f"{kind} *" for kind in ("char", "float", "int", "size_t", "uint32_t volatile", "unsigned int", "void *")),
    *(
        f"{kind} *"
        for kind in (
            "CUcontext",
            "CUdevice",
            "CUdeviceptr",
            "CUevent",
            "CUfunction",
            "CUkernel",
            "CUlibrary",
            "CUmodule",
        )
    ),
    *(f"{kind} *" for kind in ("CUDA_KERNEL_NODE_PARAMS", "CUgraph", "CUgraphExec", "CUgraphNode", "CUstream")),
    *("CUdeviceptr", "CUgraphNode[]", "CUstream", "char[256]", "char[]", "const char **"),
    *("uintptr_t", "void *", "void **", "void *[]"),
)

ffi: Final = declared(_FUNCTIONS, _TYPES)

_LIBRARY: Final = "libcuda.so.1"
_CURE: Final = "Debian: apt-get install nvidia-driver, Ubuntu: ubuntu-drivers install, in a container: --gpus all"
_OLDEST: Final = 12000
"""The oldest driver interface that EP has the functions of: of CUDA 12.0."""


class Caller(ABC):
    """Calls the driver's functions and checks what they answer.

    functions : the C functions as they are, for callers that check for themselves
    """

    functions: Any

    @abstractmethod
    def failed(self, status: int, name: str) -> ep.DeviceError:
        """Return the error for the code of a call."""

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function. Raises DeviceError with its name and the driver's code."""
        status = getattr(self.functions, name)(*arguments)
        if status:
            raise self.failed(status, name)

    def answer(self, name: str, kind: str, *arguments: Any) -> Any:
        """Return the value that a function writes through its first argument, which is of this C type."""
        place = ffi.new(f"{kind} *")
        self.call(name, place, *arguments)
        return place[0]

    def text(self, name: str, *arguments: Any) -> str:
        """Return the text that a function writes into a buffer, its first argument beside the buffer's length."""
        buffer = ffi.new("char[256]")
        self.call(name, buffer, 256, *arguments)
        return str(ffi.string(buffer).decode())


class Driver(Caller):
    """The opened library, for calls that need no context.

    version : of its interface, as 1000 * major + 10 * minor
    """

    def __init__(self) -> None:
        """Open and initialise it. Raises UnavailableError if there is none, it is too old, or it finds no hardware."""
        try:
            self.functions = opened(ffi, _FUNCTIONS, _LIBRARY)
        except AttributeError as error:
            message = f"{_LIBRARY} is no driver of NVIDIA's, or one older than CUDA {_spelled(_OLDEST)} ({error}); install a newer one ({_CURE})"
            raise ep.UnavailableError(message) from error
        except OSError as error:
            why, _, _ = str(error).partition(".  ")  # cffi tells of a second search, too
            message = f"NVIDIA's driver is not installed ({why}); install it ({_CURE}), or leave this provider out with EP_DISABLE=cuda"
            raise ep.UnavailableError(message) from error
        self.version = int(self.answer("cuDriverGetVersion", "int"))
        if self.version < _OLDEST:
            message = f"NVIDIA's driver serves CUDA {_spelled(self.version)}, and EP needs {_spelled(_OLDEST)}; install a newer driver ({_CURE})"
            raise ep.UnavailableError(message)
        status = self.functions.cuInit(0)
        if status:
            message = f"NVIDIA's driver finds no hardware that it can use ({self.name_of(status)}); look at nvidia-smi, and at CUDA_VISIBLE_DEVICES"
            raise ep.UnavailableError(message)

    def failed(self, status: int, name: str) -> ep.DeviceError:
        return failure(name, status, self.name_of(status))

    def name_of(self, status: int) -> str:
        """Return the driver's name of a code, such as CUDA_ERROR_OUT_OF_MEMORY."""
        name = ffi.new("const char **")
        if self.functions.cuGetErrorName(status, name):
            return f"code {status}"
        return str(ffi.string(name[0]).decode())


class Context(Caller):
    """A device's primary context, which other libraries of the process share; `with context as current:` makes it current.

    native : the driver's
    """

    def __init__(self, ordinal: int, failed: Callable[[int, str], ep.DeviceError]) -> None:
        """Retain it. Raises DeviceError.

        failed : makes the error for a call's code and name, and takes note of a loss of the device
        """
        opened = driver()
        self.functions = opened.functions
        self._device = ordinal
        self._failed = failed
        self.native = opened.answer("cuDevicePrimaryCtxRetain", "CUcontext", ordinal)
        self.push = functools.partial(self.functions.cuCtxPushCurrent_v2, self.native)
        self.pop = functools.partial(self.functions.cuCtxPopCurrent_v2, ffi.new("CUcontext *"))

    def failed(self, status: int, name: str) -> ep.DeviceError:
        return self._failed(status, name)

    def __enter__(self) -> Self:
        status = self.push()
        if status:  # nothing was put, so that nothing may be taken away
            raise self.failed(status, "cuCtxPushCurrent")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.pop()

    def wait(self, name: str, point: Any) -> None:
        """Wait by a function of the driver's for a stream or an event, in a thread that does nothing else; of an error the host hears."""
        if not self.push():
            getattr(self.functions, name)(point.native)
            self.pop()

    def close(self) -> None:
        """Release it; it raises nothing."""
        self.functions.cuDevicePrimaryCtxRelease_v2(self._device)


@functools.cache
def driver() -> Driver:
    """Return the driver, opened once. Raises UnavailableError."""
    return Driver()


def _spelled(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"
