"""The fixtures of this room's tests: the first OpenCL device of this machine."""

from __future__ import annotations

import numpy as np
import pytest

import ep


@pytest.fixture(scope="session")
def device():
    """Return opencl:0; without an OpenCL driver there is nothing to test."""
    try:
        return ep.device("opencl:0")
    except ep.UnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture
def stream(device):
    """Return a stream that is closed afterwards."""
    stream = device.stream()
    yield stream
    stream.close()


@pytest.fixture
def put(device, stream):
    """Return a function from an array to a memory that holds it."""

    def upload(array):
        memory = device.allocate(array.nbytes)
        stream.upload(memory, np.ascontiguousarray(array))
        return memory

    return upload


@pytest.fixture
def get(stream):
    """Return a function from a memory to an array of a dtype."""

    def download(memory, dtype):
        out = np.empty(memory.nbytes // np.dtype(dtype).itemsize, dtype)
        stream.download(out, memory)
        stream.synchronize()
        return out

    return download
