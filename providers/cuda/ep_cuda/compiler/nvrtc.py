"""NVRTC, NVIDIA's compiler as a library, through cffi: it needs neither a toolkit nor a GPU.

Facts are from NVIDIA's NVRTC reference, release 13.0.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Final

import ep
from ep_cuda.library import declared, in_wheels, opened

__all__ = ["Nvrtc", "nvrtc"]

_FUNCTIONS: Final = """
typedef int nvrtcResult;
typedef void *nvrtcProgram;

const char *nvrtcGetErrorString(nvrtcResult);
nvrtcResult nvrtcVersion(int *, int *);
nvrtcResult nvrtcGetNumSupportedArchs(int *);
nvrtcResult nvrtcGetSupportedArchs(int *);
nvrtcResult nvrtcCreateProgram(nvrtcProgram *, const char *, const char *, int, const char **, const char **);
nvrtcResult nvrtcDestroyProgram(nvrtcProgram *);
nvrtcResult nvrtcCompileProgram(nvrtcProgram, int, const char **);
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram, size_t *);
nvrtcResult nvrtcGetProgramLog(nvrtcProgram, char *);
nvrtcResult nvrtcGetPTXSize(nvrtcProgram, size_t *);
nvrtcResult nvrtcGetPTX(nvrtcProgram, char *);
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram, size_t *);
nvrtcResult nvrtcGetCUBIN(nvrtcProgram, char *);
"""

_ffi: Final = declared(_FUNCTIONS, ("int *", "int[]", "size_t *", "char[]", "const char *[]", "nvrtcProgram *"))

_OPTIONS: Final = ("--fmad=false",)
"""Products and sums round one by one, as on every other device; no fast arithmetic, so nothing is flushed."""

_SYSTEM: Final = ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")
_OLDER: Final = (
    "take an older one in its place: pip uninstall nvidia-cuda-nvrtc, then pip install nvidia-cuda-nvrtc-cu12"
)
_CURE: Final = "pip install 'execution-provider[cuda]' brings it"


class Nvrtc:
    """The opened library.

    version        : "major.minor"
    architectures  : compute capabilities for which it makes code, as 10 * major + minor
    """

    def __init__(self) -> None:
        """Open it, the wheel's first. Raises UnavailableError if there is none."""
        self._functions, self._beside = _opened()
        major, minor = _ffi.new("int *"), _ffi.new("int *")
        self._check("nvrtcVersion", major, minor)
        self.version = f"{major[0]}.{minor[0]}"
        count = _ffi.new("int *")
        self._check("nvrtcGetNumSupportedArchs", count)
        found = _ffi.new("int[]", count[0])
        self._check("nvrtcGetSupportedArchs", found)
        self.architectures = frozenset(found)

    def options(self, architecture: int, *, as_ptx: bool = False) -> tuple[str, ...]:
        """Return the options for an architecture: code for the device itself, or PTX for the driver if asked or if this release is older.

        Raises UnsupportedError if this release has dropped the architecture.
        """
        if architecture in self.architectures and not as_ptx:
            return f"--gpu-architecture=sm_{architecture}", *_OPTIONS
        newest = max((known for known in self.architectures if known <= architecture), default=None)
        if newest is None:
            oldest = _dotted(min(self.architectures))
            message = f"NVRTC {self.version} makes code for compute capability {oldest} and newer, and the device has {_dotted(architecture)}; {_OLDER}"
            raise ep.UnsupportedError(message)
        return f"--gpu-architecture=compute_{newest}", *_OPTIONS

    def compile(self, source: str, name: str, options: tuple[str, ...]) -> bytes:
        """Return a program's cubin, or its PTX with a zero at the end if the options name a virtual architecture.

        name : of the program, for messages

        Raises CompileError with the log and the source.
        """
        program = _ffi.new("nvrtcProgram *")
        text, file = source.encode(), f"{name}.cu".encode()
        self._check("nvrtcCreateProgram", program, text, file, 0, _ffi.NULL, _ffi.NULL)
        try:
            words = [_ffi.new("char[]", option.encode()) for option in options]
            status = self._functions.nvrtcCompileProgram(program[0], len(words), _ffi.new("const char *[]", words))
            if status:
                log = self._content(program[0], "ProgramLog").rstrip(b"\0").decode(errors="replace")
                message = f"NVRTC {self.version}: {name} does not compile ({self._name_of(status)})"
                raise ep.CompileError(message, log=log, source=source, entry=name)
            is_virtual = any("compute_" in option for option in options)
            return self._content(program[0], "PTX" if is_virtual else "CUBIN")
        finally:
            self._functions.nvrtcDestroyProgram(program)

    def _content(self, program: Any, what: str) -> bytes:
        size = _ffi.new("size_t *")
        self._check(f"nvrtcGet{what}Size", program, size)
        content = _ffi.new("char[]", size[0])
        self._check(f"nvrtcGet{what}", program, content)
        return bytes(_ffi.buffer(content))

    def _check(self, name: str, *arguments: Any) -> None:
        status = getattr(self._functions, name)(*arguments)
        if status:
            message = "a call of NVRTC failed"
            raise ep.DeviceError(message, provider="cuda", call=name, code=self._name_of(status))

    def _name_of(self, status: int) -> str:
        return bytes(_ffi.string(self._functions.nvrtcGetErrorString(status))).decode()


def _dotted(architecture: int) -> str:
    return f"{architecture // 10}.{architecture % 10}"


@functools.cache
def nvrtc() -> Nvrtc:
    """Return NVRTC, opened once. Raises UnavailableError."""
    return Nvrtc()


def _opened() -> tuple[Any, list[Any]]:
    """Return the library, and others that have to stay open beside it. Raises UnavailableError if there is none."""
    reasons = []
    for path in (*in_wheels("libnvrtc.so.*"), *_SYSTEM):
        try:
            library = opened(_ffi, _FUNCTIONS, path)
            # By their name alone NVRTC 13.0 does not find its built-in functions, unless they are open already.
            beside = () if path in _SYSTEM else Path(path).parent.glob("libnvrtc-builtins.so.*")
            return library, [_ffi.dlopen(str(each)) for each in beside]
        except (OSError, AttributeError) as error:
            reasons.append(str(error))
    message = f"NVRTC, the compiler of CUDA's kernels, is not installed ({reasons[-1]}); {_CURE}"
    raise ep.UnavailableError(message)
