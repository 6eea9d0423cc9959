"""The fixtures of this room's tests: NVRTC, and every program that the families' cells need."""

from __future__ import annotations

import ctypes
import importlib.util
import re
from pathlib import Path

import ep_simt
import pytest

import ep

_OPS = ("elementwise_unary_", "broadcast_binary_", "cast-", "saturating_cast-")
INFO = ep.DeviceInfo("any", "EP", dtypes=frozenset(ep_simt.ELEMENTS))


class Nvrtc:
    """NVIDIA's run-time compiler, which needs no GPU: `ptx(source)` compiles one source."""

    _OPTIONS = (b"--gpu-architecture=compute_90", b"--fmad=false")

    def __init__(self, path):
        self._library = ctypes.CDLL(str(path))

    def ptx(self, source):
        program = ctypes.c_void_p()
        self._library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"program.cu", 0, None, None)
        options = (ctypes.c_char_p * len(self._OPTIONS))(*self._OPTIONS)
        status = self._library.nvrtcCompileProgram(program, len(self._OPTIONS), options)
        log = self._text(program, "nvrtcGetProgramLog")
        assert status == 0, log
        text = self._text(program, "nvrtcGetPTX")
        self._library.nvrtcDestroyProgram(ctypes.byref(program))
        return text

    def _text(self, program, name):
        size = ctypes.c_size_t()
        getattr(self._library, f"{name}Size")(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        getattr(self._library, name)(program, text)
        return text.value.decode()


@pytest.fixture(scope="session")
def nvrtc():
    """Return the compiler of the wheel nvidia-cuda-nvrtc."""
    spec = importlib.util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations) if spec else []
    found = [path for root in roots for path in Path(root).glob("*/lib/libnvrtc.so.*")]
    if not found:
        pytest.skip("nvidia-cuda-nvrtc is not installed; pip install 'execution-provider[cuda]'")
    return Nvrtc(found[0])


@pytest.fixture(scope="session")
def prelude():
    """Return the CUDA prelude."""
    return (Path(ep_simt.__file__).parent / "dialect" / "prelude_cuda.h").read_text(encoding="utf-8")


def pytest_generate_tests(metafunc):
    if "program" in metafunc.fixturenames:
        metafunc.parametrize("program", [_marked(program) for program in programs()], ids=lambda program: program.name)


def _marked(program):
    """Return a program; most elementwise ones differ from another only in their types and layout, and are for `make thorough`."""
    is_thorough = program.name.startswith(_OPS) and not re.search(r"-f32-(f32|bool)-t+-dense|_(exp|add)-", program.name)
    return pytest.param(program, marks=pytest.mark.thorough) if is_thorough else program


def programs():
    """Return every program for the cells of the suite that the dialect has, and the 64-bit form of each strided one."""
    found = {}
    for family in ep.families().values():
        for cell in family.cells():
            descriptor = family.sample(cell)
            try:
                ep_simt.require(descriptor, INFO)
            except ep.UnsupportedError:
                continue
            for key in (descriptor.key, descriptor.key._replace(wide=descriptor.key.layout == "strided")):
                found[ep_simt.bodies()[key.family].program(key, ep_simt.GPU)] = None
    return list(found)
