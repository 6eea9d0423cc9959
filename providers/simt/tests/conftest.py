"""The fixtures of this room's tests: NVRTC and its prelude."""

from __future__ import annotations

import pytest
from ep_cuda.compiler.nvrtc import nvrtc as nvrtc_of_cuda
from ep_cuda.compiler.program import PRELUDE

import ep


class Ptx:
    """NVRTC, which needs no GPU: `ptx(source)` compiles one source."""

    @staticmethod
    def ptx(source):
        options = ("--gpu-architecture=compute_90", "--fmad=false")
        return nvrtc_of_cuda().compile(source, "program", options).rstrip(b"\0").decode()


@pytest.fixture(scope="session")
def nvrtc():
    """Return the compiler of the wheel nvidia-cuda-nvrtc."""
    try:
        nvrtc_of_cuda()
    except ep.UnavailableError as error:
        pytest.skip(str(error))
    return Ptx


@pytest.fixture(scope="session")
def prelude():
    """Return the CUDA prelude."""
    return PRELUDE
